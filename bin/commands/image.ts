import type { Command } from 'commander';
import { implement, type Program, withExample } from './invocation.ts';

export function addImage(parent: Command, program: Program): void {
  const group = parent.command('image').description('images that agents run in');
  withExample(group, 'roundtable image build generic');
  const build = group
    .command('build')
    .description('build the image of an adapter and write its id into the configuration')
    .argument('<adapter>', 'name under adapters');
  implement(program, build, 'roundtable image build generic', async ({ ctx, directory, out, operands }) => {
    const built = await ctx.app.buildImage(directory, operands[0] ?? '', ctx.interrupt);
    if (!built.ok) return out.fail(built.error);
    const { adapter, imageId, sizeBytes, ms, writtenTo } = built.value;
    out.document(built.value);
    out.line(`${adapter}: ${imageId}, ${(sizeBytes / 1_048_576).toFixed(1)} MiB in ${(ms / 1000).toFixed(1)} s`);
    out.line(
      writtenTo === null
        ? `no adapter ${adapter} is configured, so the id is written nowhere`
        : `written to ${writtenTo}`,
    );
    return 0;
  });
}
