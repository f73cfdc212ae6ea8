#!/usr/bin/env node
// The entry: answers --version at once; everything else is loaded when it is needed.
declare const __ROUNDTABLE_VERSION__: string | undefined;

const version = typeof __ROUNDTABLE_VERSION__ === 'string' ? __ROUNDTABLE_VERSION__ : '0.0.0-dev';
const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${version}\n`);
} else {
  const { main } = await import('./main.ts');
  await main(argv, version);
}
