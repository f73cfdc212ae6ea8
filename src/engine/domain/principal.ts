/** Who acts (glossary: principal). An agent's principal carries its configured id. */
export type Principal = 'operator' | 'coordinator' | 'system' | `agent:${string}`;

export function isPrincipal(text: string): text is Principal {
  return text === 'operator' || text === 'coordinator' || text === 'system' || /^agent:.+$/.test(text);
}
