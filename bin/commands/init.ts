import type { Command } from 'commander';
import { implement, type Program } from './invocation.ts';

interface Options {
  readonly force?: boolean;
  readonly refreshGenerated?: boolean;
}

export function addInit(parent: Command, program: Program): void {
  const command = parent
    .command('init')
    .description('set up Roundtable in this repository; existing files are kept')
    .option('--force', 'replace existing files, each backed up first')
    .option('--yes', 'take the defaults for what can not be found out')
    .option('--refresh-generated', 'rewrite generated files that nobody has edited');
  implement<Options>(program, command, 'roundtable init', async ({ ctx, directory, out, options }) => {
    const { force = false, refreshGenerated = false } = options;
    const result = await ctx.app.init(directory, { force, refreshGenerated });
    if (!result.ok) return out.fail(result.error);
    const report = result.value;
    out.document(report);
    for (const found of report.detected) out.line(`found    ${found}`);
    for (const path of report.created) out.line(`created  ${path}`);
    for (const path of report.kept) out.line(`kept     ${path}`);
    for (const { path, backup } of report.backedUp) out.line(`replaced ${path}, old one in ${backup}`);
    if (report.next.length > 0) out.line('next:');
    for (const step of report.next) out.line(`  ${step}`);
    return 0;
  });
}
