/**
 * What runs inside the container, as one bundled file on Node 18 or newer without packages. Trusts its arguments (we
 * give them) and nothing that the programs around it say: they run as the same user and can only do what they could
 * without it.
 */
import { parseBridgeArguments } from './arguments.ts';
import { runProxy } from './run-proxy.ts';

const USAGE = 'usage: roundtable-bridge proxy --socket PATH [--port N] [--port-file PATH] -- COMMAND [ARGUMENT...]';

/** Exit status for a wrong command line (sysexits EX_USAGE). */
const EXIT_USAGE = 64;

async function main(argv: readonly string[]): Promise<number> {
  const parsed = parseBridgeArguments(argv);
  if (!parsed.ok) {
    process.stderr.write(`roundtable-bridge: ${parsed.error}\n${USAGE}\n`);
    return EXIT_USAGE;
  }
  switch (parsed.value.subcommand) {
    case 'proxy':
      return runProxy(parsed.value);
  }
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`roundtable-bridge: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
