import { z } from 'zod';
import { configurationSchema } from '../../src/engine/config/schema.ts';
import { ERRORS } from '../../src/engine/domain/errors.ts';
import { LIFECYCLES } from '../../src/engine/domain/lifecycle.ts';
import { configurationPage } from './configuration-page.ts';
import { GENERATED_NOTE } from './note.ts';

/** Path below the root of the checkout → text, of every file that is made from the code. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const schema = z.toJSONSchema(configurationSchema, { io: 'input' });
  return new Map([
    ['templates/config.schema.json', `${JSON.stringify({ title: 'Roundtable configuration', ...schema }, null, 2)}\n`],
    ['docs/configuration.md', configurationPage(schema)],
    ['docs/errors.md', errorsPage()],
    ['docs/lifecycles.md', lifecyclesPage()],
  ]);
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([code, { exit, means }]) => `| \`${code}\` | ${exit} | ${means} |`);
  return `${GENERATED_NOTE}
# Errors

A failed command prints one line on stderr, \`error: what; how to mend it\`, and with \`--json\` the document
\`{"error": {"code", "message", "remedy", "details"}}\` on stdout. Codes are stable; wordings are not. A stack is printed only with
\`ROUNDTABLE_DEBUG=1\`.

| code | exit | means |
| --- | --- | --- |
${rows.join('\n')}

Exit codes beside these: 0 done, 2 usage, 3 waits for the operator, 4 finished with failed tasks, 5 a limit was reached, 6 another
process owns the engine, 130 and 143 interrupted.
`;
}

function lifecyclesPage(): string {
  const tables = Object.entries(LIFECYCLES).map(([entity, table]) => {
    const rows = Object.entries(table).map(
      ([from, to]) => `| ${from} | ${to.length === 0 ? '*(final)*' : to.join(', ')} |`,
    );
    return `## ${entity}\n\n| from | to |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  return `${GENERATED_NOTE}
# Lifecycles

What each thing may become. A move that is not listed is refused with \`illegal_transition\`; a final status has no way out.

${tables.join('\n')}`;
}
