import type { Gate } from '../../src/engine/api.ts';

/** One line per gate, with what to do about those that are open. */
export function gateLines(gates: readonly Gate[]): readonly string[] {
  const width = Math.max(0, ...gates.map((gate) => gate.id.length));
  return gates.map((gate) => {
    const remedy = gate.remedy === '' ? '' : `; ${gate.remedy}`;
    return `${gate.id.padEnd(width)}  ${gate.status.padEnd(10)}  ${gate.detail}${remedy}`;
  });
}

export function openGates(gates: readonly Gate[]): readonly Gate[] {
  return gates.filter((gate) => gate.status === 'pending' || gate.status === 'failed');
}
