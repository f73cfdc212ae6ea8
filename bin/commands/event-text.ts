import type { EventRecord } from '../../src/engine/api.ts';

/** `12  10:20:30.123  proposal.submitted  P-3  agent:implementer-1  title=…`. */
export function eventText(event: EventRecord): string {
  const details = Object.entries(event.data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${short(String(value))}`);
  const parts = [String(event.id), event.at.slice(11, 23), event.type, event.entityId, event.principal, ...details];
  return parts.join('  ');
}

function short(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length > 100 ? `${flat.slice(0, 99)}…` : flat;
}
