import type { Command } from 'commander';
import { implement, type Program } from './invocation.ts';

interface Options {
  readonly headless?: boolean;
  readonly keep?: boolean;
  readonly yes?: boolean;
}

export function addDemo(parent: Command, program: Program): void {
  const command = parent
    .command('demo')
    .description('the whole story on a sample repository, in real containers with scripted agents')
    .option('--headless', 'no screen')
    .option('--keep', 'leave the sample repository there')
    .option('--yes', 'do not ask');
  implement<Options>(program, command, 'roundtable demo --headless', async ({ ctx, globals, options }) => {
    const { runDemo } = await import('./demo.ts');
    const { headless = false, keep = false, yes = false } = options;
    return runDemo(ctx, globals, { headless, keep, yes });
  });
}
