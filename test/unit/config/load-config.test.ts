import { describe, expect, it } from 'vitest';
import { type LoadedConfiguration, loadConfig } from '../../../src/engine/config/load-config.ts';
import { NOT_YET_ENFORCED } from '../../../src/engine/config/not-yet-enforced.ts';
import { settingsFromConfig } from '../../../src/engine/config/settings-from-config.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const GENERIC = 'adapters:\n  gen:\n    kind: generic\n';

function load(text: string, processors = 2): LoadedConfiguration {
  return loadConfig({ file: 'config.yaml', text, directoryName: 'demo', processors });
}

describe('a configuration that is refused', () => {
  const cases: readonly { why: string; text: string; at: string; says: string; remedy: string; code?: string }[] = [
    {
      why: 'a mistyped key',
      text: 'sandbox:\n  memory_mb: 5\n',
      at: '2:3',
      says: 'unknown key sandbox.memory_mb',
      remedy: 'did you mean memory_mib?',
    },
    {
      why: 'a mistyped section',
      text: 'version: 1\nsandbocks: {}\n',
      at: '2:1',
      says: 'unknown key sandbocks',
      remedy: 'did you mean sandbox?',
    },
    {
      why: 'an unknown key like no other',
      text: 'xylophone: 1\n',
      at: '1:1',
      says: 'unknown key xylophone',
      remedy: 'remove it; known here: version',
    },
    {
      why: 'an unknown key of an adapter',
      text: `${GENERIC}    comand: sh\n`,
      at: '4:5',
      says: 'unknown key adapters.gen.comand',
      remedy: 'did you mean command?',
    },
    {
      why: 'a number in quotes',
      text: 'sandbox:\n  memory_mib: "512"\n',
      at: '2:15',
      says: 'must be a number, not "512"',
      remedy: 'without quotes',
    },
    {
      why: 'a version in quotes',
      text: 'version: "1"\n',
      at: '1:10',
      says: 'version must not be a text',
      remedy: 'without quotes',
    },
    {
      why: 'another version',
      text: 'version: 2\n',
      at: '1:10',
      says: 'version: 2 is not known',
      remedy: 'use one of: 1',
    },
    {
      why: 'too little memory',
      text: 'sandbox: {memory_mib: 5}\n',
      at: '1:23',
      says: 'must be at least 64, not 5',
      remedy: 'use at least 64',
    },
    {
      why: 'too much output',
      text: 'sandbox:\n  output_bytes: 16777217\n',
      at: '2:17',
      says: 'must be at most 16777216',
      remedy: 'use at most 16777216',
    },
    {
      why: 'half a session',
      text: 'limits: {max_sessions: 1.5}\n',
      at: '1:24',
      says: 'must be a whole number',
      remedy: 'give a whole number',
    },
    {
      why: 'a key written twice',
      text: 'ui: {}\nui: {}\n',
      at: '2:1',
      says: 'the key is written twice',
      remedy: 'keep one',
    },
    {
      why: 'broken YAML',
      text: 'tests:\n  required: [[npm, test]\nui: {}\n',
      at: '3:1',
      says: 'YAML: ',
      remedy: 'correct the YAML',
    },
    {
      why: 'a tab',
      text: 'sandbox:\n\tcpus: 2\n',
      at: '2:1',
      says: 'a tab is used as indentation',
      remedy: 'indent with spaces',
    },
    {
      why: 'a custom tag',
      text: 'project_name: !!js x\n',
      at: '1:15',
      says: 'tags are not allowed',
      remedy: 'without the tag',
    },
    {
      why: 'two documents',
      text: 'version: 1\n---\nui: {}\n',
      at: '2:1',
      says: 'more than one YAML document',
      remedy: 'keep one',
    },
    {
      why: 'an alias to nowhere',
      text: 'ui: {}\nproject_name: *base\n',
      at: '2:15',
      says: 'the alias *base',
      remedy: 'write the value out',
    },
    {
      why: 'the prototype',
      text: 'agents: {__proto__: {adapter: x}}\n',
      at: '1:10',
      says: '__proto__ is not allowed',
      remedy: 'another name',
    },
    {
      why: 'a list instead of a mapping',
      text: '- version\n',
      at: '1:1',
      says: 'the document must be a mapping',
      remedy: 'give a mapping',
    },
    {
      why: 'a command line for a list',
      text: 'tests:\n  required: ["npm test"]\n',
      at: '2:14',
      says: 'tests.required[0] must be a list',
      remedy: '["npm", "test"]',
    },
    {
      why: 'an empty command',
      text: 'tests:\n  required: [[]]\n',
      at: '2:14',
      says: 'at least 1 elements',
      remedy: 'give it at least 1',
    },
    {
      why: 'a tag instead of a digest',
      text: `${GENERIC}    image: node:20\n`,
      at: '4:12',
      says: '"node:20" is not pinned by digest',
      remedy: 'name@sha256:',
      code: 'image_not_pinned',
    },
    {
      why: 'a short digest',
      text: `${GENERIC}    image: sha256:abc\n`,
      at: '4:12',
      says: 'not pinned',
      remedy: '64 hex digits',
      code: 'image_not_pinned',
    },
    {
      why: 'an unpinned test image',
      text: 'tests: {image: "node:20"}\n',
      at: '1:16',
      says: 'tests.image',
      remedy: 'sha256',
      code: 'image_not_pinned',
    },
    {
      why: 'an adapter that is not there',
      text: `${GENERIC}agents:\n  implementers: {adapter: gne}\n`,
      at: '5:27',
      says: 'there is no adapter "gne"',
      remedy: 'did you mean gen?',
    },
    {
      why: 'an entry that is no role',
      text: `${GENERIC}agents:\n  workers: {adapter: gen}\n`,
      at: '5:3',
      says: 'no role is called "worker"',
      remedy: 'add role:',
    },
    {
      why: 'a mistyped role',
      text: `${GENERIC}agents:\n  helpers: {adapter: gen, role: Reviwer}\n`,
      at: '5:33',
      says: '"Reviwer" is not known',
      remedy: 'did you mean Reviewer?',
    },
    {
      why: 'two entries for one name',
      text: `${GENERIC}agents:\n  chair: {adapter: gen}\n  chairs: {adapter: gen}\n`,
      at: '6:3',
      says: 'both make agents called chair-1',
      remedy: 'rename one',
    },
    {
      why: 'an agent without an adapter',
      text: 'agents:\n  chair: {}\n',
      at: '2:3',
      says: 'agents.chair.adapter is missing',
      remedy: 'add it',
    },
    {
      why: 'an adapter of no kind',
      text: 'adapters:\n  gen: {}\n',
      at: '2:3',
      says: 'adapters.gen.kind is missing',
      remedy: 'add kind:',
    },
    {
      why: 'a name with capitals',
      text: 'adapters:\n  Gen: {kind: generic}\n',
      at: '2:3',
      says: 'the name is not acceptable',
      remedy: 'lower-case letter',
    },
    {
      why: 'arguments in command',
      text: `${GENERIC}    command: sh -c date\n`,
      at: '4:14',
      says: 'white space',
      remedy: 'args: ["-c", "date"]',
    },
    {
      why: 'a placeholder inside an argument',
      text: `${GENERIC}    args: ["--p={{prompt}}"]\n`,
      at: '4:12',
      says: 'not the whole element',
      remedy: 'did you mean {{prompt}}?',
    },
    {
      why: 'a resume pattern with the id glued on',
      text: `${GENERIC}    resume_pattern: "--id={{external_session_id}}"\n`,
      at: '4:21',
      says: 'stands alone',
      remedy: 'for example',
    },
    {
      why: 'a resume pattern with two ids',
      text: `${GENERIC}    resume_pattern: "{{external_session_id}} {{external_session_id}}"\n`,
      at: '4:21',
      says: 'exactly one',
      remedy: 'for example',
    },
    {
      why: 'PATH as a credential',
      text: `${GENERIC}    credential_env: [PATH]\n`,
      at: '4:22',
      says: 'PATH steers the program',
      remedy: 'remove it',
    },
    {
      why: 'a loader variable as a credential',
      text: `${GENERIC}    credential_env: [KEY, LD_PRELOAD]\n`,
      at: '4:27',
      says: 'LD_PRELOAD steers',
      remedy: 'remove it',
    },
    {
      why: 'a proxy variable as a credential',
      text: `${GENERIC}    credential_env: [HTTPS_PROXY]\n`,
      at: '4:22',
      says: 'HTTPS_PROXY steers',
      remedy: 'remove it',
    },
    {
      why: 'a value among the names',
      text: `${GENERIC}    credential_env: ["KEY=abc"]\n`,
      at: '4:22',
      says: 'holds a value',
      remedy: 'name only',
    },
    {
      why: 'a name in lower case',
      text: `${GENERIC}    credential_env: [key]\n`,
      at: '4:22',
      says: 'no variable name',
      remedy: 'use capitals',
    },
    {
      why: 'a wildcard host',
      text: `${GENERIC}    provider_hosts: ["*.example.com"]\n`,
      at: '4:22',
      says: 'wildcard',
      remedy: 'one exact DNS name',
    },
    {
      why: 'an address as host',
      text: `${GENERIC}    provider_hosts: ["10.0.0.1"]\n`,
      at: '4:22',
      says: 'is an address',
      remedy: 'one exact DNS name',
    },
    {
      why: 'a host with a port',
      text: `${GENERIC}    provider_hosts: ["api.example.com:443"]\n`,
      at: '4:22',
      says: 'has a port',
      remedy: 'one exact DNS name',
    },
    {
      why: 'a scope outside the repository',
      text: 'tasks: {default_writable: ["../x"]}\n',
      at: '1:28',
      says: 'path_dotdot',
      remedy: 'leave out the ..',
    },
    {
      why: 'a mistyped placeholder in the message',
      text: 'transactions: {message_template: "{{titel}}"}\n',
      at: '1:34',
      says: 'the placeholder {{titel}} is not known',
      remedy: 'did you mean {{title}}?',
    },
    {
      why: 'dependencies all over the workspace',
      text: 'tests: {prepare: {argv: [npm, ci], dir: .}}\n',
      at: '1:41',
      says: 'not one directory',
      remedy: 'node_modules',
    },
    {
      why: 'a relative storage directory',
      text: 'storage: {dir: here}\n',
      at: '1:16',
      says: 'not an absolute path',
      remedy: 'from / on',
    },
  ];
  it.each(cases)('names place, key and remedy of $why', ({ text, at, says, remedy, code }) => {
    const { config, problems, origins } = load(text);
    expect(config).toBeNull();
    expect(origins).toEqual([]);
    const [problem] = problems;
    expect(problem?.message).toContain(`config.yaml:${at}: `);
    expect(problem?.message).toContain(says);
    expect(problem?.remedy).toContain(remedy);
    expect(problem?.code).toBe(code ?? 'config_invalid');
    const [line, column] = at.split(':').map(Number);
    expect(problem?.details).toMatchObject({ file: 'config.yaml', line, column });
  });

  it('reports every problem, in the order of the file', () => {
    const { problems } = load('uj: {}\nsandbox: {pids: 1}\nlimits: {max_attempts: no}\n');
    expect(problems.map((problem) => problem.details?.key)).toEqual(['uj', 'sandbox.pids', 'limits.max_attempts']);
  });

  it('refuses an alias bomb without unfolding it', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `  l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}*l${level}]`,
    );
    const { problems } = load(`schemas:\n  l0: &l0 [a]\n${levels.join('\n')}\n`);
    expect(problems[0]?.message).toContain('alias');
  });
});

describe('a demand that this version does not enforce', () => {
  const asks: Record<string, string> = {
    'runtime.transport': 'runtime: {transport: stream}',
    'mcp.http_address': 'mcp: {http_address: "127.0.0.1:1"}',
    'mcp.tls_cert_file': 'mcp: {tls_cert_file: /c}',
    'mcp.tls_key_file': 'mcp: {tls_key_file: /c}',
    'egress.connections': 'egress: {connections: 1}',
    'egress.session_bytes': 'egress: {session_bytes: 1}',
    'egress.bytes_per_second': 'egress: {bytes_per_second: 1}',
    'claims.mode': 'claims: {mode: strict}',
    'turns.lease_seconds': 'turns: {lease_seconds: 1}',
    'limits.max_revisions': 'limits: {max_revisions: 1}',
    'limits.run_usd': 'limits: {run_usd: 1.5}',
    'limits.run_tokens': 'limits: {run_tokens: 1}',
    'limits.session_usd': 'limits: {session_usd: 1}',
    'limits.session_tokens': 'limits: {session_tokens: 1}',
    'sandbox.checkpoint_seconds': 'sandbox: {checkpoint_seconds: 30}',
    schemas: 'schemas: {main: ["db/**"]}',
    'notify.command': 'notify: {command: [beep]}',
    'ui.mouse': 'ui: {mouse: true}',
    'ui.theme': 'ui: {theme: dark}',
    'adapters.*.kind': 'adapters: {codex: {}}',
    'adapters.*.supports_resume':
      'adapters: {g: {kind: generic, supports_resume: true, resume_pattern: "{{external_session_id}}"}}',
    'adapters.*.provider_hosts': 'adapters: {g: {kind: generic, provider_hosts: [api.example.com]}}',
    'adapters.*.login_hosts': 'adapters: {g: {kind: generic, login_hosts: [api.example.com]}}',
    'adapters.*.provider_cidrs': 'adapters: {g: {kind: generic, provider_cidrs: {api.example.com: [10.0.0.0/8]}}}',
    'adapters.*.provider_home': 'adapters: {g: {kind: generic, provider_home: keep}}',
  };
  // Whether a bell that nobody rings is on or off asks for nothing.
  const refusing = NOT_YET_ENFORCED.map((row) => row.key).filter((key) => key !== 'notify.bell');
  it.each(refusing)('is an error for %s', (key) => {
    const text = asks[key];
    if (text === undefined) throw new Error(`add a case for ${key}`);
    const { problems } = load(text);
    expect(problems[0]?.message).toContain('this version');
    expect(problems[0]?.remedy).toContain('remove it, or write');
    expect(problems[0]?.details?.key).toBe(key.replace('*', key === 'adapters.*.kind' ? 'codex' : 'g'));
  });

  it('is none for the values that ask for nothing', () => {
    const text =
      'claims: {mode: auto}\nlimits: {run_usd: null}\nmcp: {http_address: off}\nruntime: {transport: socket}\n';
    expect(load(text.replace('off', '"off"')).problems).toEqual([]);
  });
});

describe('a valid configuration', () => {
  it('has all defaults when the file is empty', () => {
    const { config, problems, warnings } = load('', 12);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      project_name: 'demo',
      sandbox: { memory_mib: 2048, cpus: 2, pids: 256, output_bytes: 1_048_576, session_minutes: 30, idle_minutes: 10 },
      transactions: { apply: 'on_approval', commit: true },
      limits: { max_sessions: 6, max_attempts: 2, run_minutes: null },
      tasks: { default_readable: ['.'], default_writable: ['.'] },
      agents: [],
      adapters: {},
    });
    expect(warnings.join('\n')).toContain('no agents are configured');
  });

  it('lets a machine with one processor run two sessions', () => {
    expect(load('', 1).config?.limits.max_sessions).toBe(2);
  });

  it('expands entries into agents named by the singular, with the role that it names', () => {
    const text = `${GENERIC}agents:\n  implementers: {count: 2, adapter: gen}\n  boss: {role: Chair, adapter: gen, model: big}\n`;
    expect(load(text).config?.agents).toEqual([
      { id: 'implementer-1', role: 'Implementer', adapter: 'gen', model: 'default', max_sessions: 1 },
      { id: 'implementer-2', role: 'Implementer', adapter: 'gen', model: 'default', max_sessions: 1 },
      { id: 'boss-1', role: 'Chair', adapter: 'gen', model: 'big', max_sessions: 1 },
    ]);
  });

  it('takes sections that hold only comments', () => {
    expect(load('agents:\n  # chair: {}\nadapters:\n').problems).toEqual([]);
  });

  it('accepts both forms of a pinned image', () => {
    for (const image of [DIGEST, `registry.example:5000/team/agent@${DIGEST}`]) {
      expect(load(`${GENERIC}    image: ${image}\n`).problems).toEqual([]);
    }
  });

  it('warns that an adapter in use has no image', () => {
    const { warnings } = load(`${GENERIC}agents:\n  chair: {adapter: gen}\n`);
    expect(warnings).toContainEqual(
      expect.stringContaining('adapters.gen has no image, so sessions of chair-1 are refused'),
    );
  });

  it('says where each value comes from', () => {
    const { origins } = load('sandbox: {pids: 64}\n');
    expect(origins).toContainEqual({ key: 'sandbox.pids', value: 64, origin: 'file' });
    expect(origins).toContainEqual({ key: 'sandbox.cpus', value: 2, origin: 'default' });
    expect(origins).toContainEqual({ key: 'project_name', value: 'demo', origin: 'default' });
  });

  it('becomes settings in milliseconds', () => {
    const { config } = load(`limits: {run_minutes: 3}\n${GENERIC}    credential_env: [SOME_TOKEN]\n`);
    if (config === null) throw new Error('refused');
    const settings = settingsFromConfig(config);
    expect(settings).toMatchObject({ sessionTimeoutMs: 1_800_000, runTimeoutMs: 180_000, claimTtlMs: 900_000 });
    expect(settings.adapters.get('gen')).toMatchObject({ kind: 'generic', credentialEnv: ['SOME_TOKEN'], image: null });
  });
});
