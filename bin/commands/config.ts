import type { Command } from 'commander';
import { columns } from './columns.ts';
import { implement, type Program, withExample } from './invocation.ts';

export function addConfig(parent: Command, program: Program): void {
  const group = parent.command('config').description('check and show the configuration');
  withExample(group, 'roundtable config check');

  const check = group
    .command('check')
    .description('every problem of the configuration, with its place; exit 1 when there is one');
  implement(program, check, 'roundtable config check', async ({ ctx, directory, out }) => {
    const checked = await ctx.app.checkConfig(directory);
    if (!checked.ok) return out.fail(checked.error);
    const { file, problems, warnings } = checked.value;
    out.document({ file, ok: problems.length === 0, problems, warnings });
    if (!out.json) {
      for (const problem of problems) out.complain(problem);
      for (const warning of warnings) out.line(`warning: ${warning}`);
      if (problems.length === 0) out.line(`${file} is valid`);
    }
    return problems.length === 0 ? 0 : 1;
  });

  const show = group
    .command('show')
    .description('the values that the file gives, or with --effective all that are in force')
    .option('--effective', 'also the defaults');
  implement<{ readonly effective?: boolean }>(
    program,
    show,
    'roundtable config show --effective',
    async ({ ctx, directory, out, options }) => {
      const shown = await ctx.app.showConfig(directory);
      if (!shown.ok) return out.fail(shown.error);
      const values = shown.value.filter((value) => options.effective === true || value.origin === 'file');
      out.document({ values });
      const rows = values.map(({ key, value, origin }) => [key, origin, JSON.stringify(value)]);
      if (rows.length > 0) for (const line of columns(['KEY', 'FROM', 'VALUE'], rows)) out.line(line);
      return 0;
    },
  );
}
