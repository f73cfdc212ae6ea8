/** Who acts (glossary: principal). An agent's principal carries its configured id. */
export type Principal = 'operator' | 'coordinator' | 'system' | `agent:${string}`;
