import type { ProjectFindings } from './detect-project.ts';

/** One file that `init` writes. A generated one is never meant to be edited and may be refreshed. */
export interface ScaffoldFile {
  readonly path: string;
  readonly text: string;
  readonly generated: boolean;
}

/** Path in the project → name in the template directory. */
const TEMPLATES: readonly { readonly path: string; readonly template: string; readonly generated: boolean }[] = [
  { path: 'AGENTS.ROUNDTABLE.md', template: 'init/AGENTS.ROUNDTABLE.md', generated: false },
  { path: 'PROJECT.ROUNDTABLE.md', template: 'init/PROJECT.ROUNDTABLE.md', generated: false },
  { path: 'POLICIES.ROUNDTABLE.md', template: 'init/POLICIES.ROUNDTABLE.md', generated: false },
  { path: 'TASKS.ROUNDTABLE/0001-bootstrap.md', template: 'init/0001-bootstrap.md', generated: false },
  { path: '.roundtable/config.yaml', template: 'init/config.yaml', generated: false },
  { path: '.roundtable/memory/README.md', template: 'init/memory-README.md', generated: false },
  { path: '.roundtable/config.schema.json', template: 'config.schema.json', generated: true },
  { path: '.roundtable/mcp/README.md', template: 'init/mcp-README.md', generated: true },
  { path: '.roundtable/mcp/manifest.json', template: 'init/mcp-manifest.json', generated: true },
];

/** Makes the files of a project from the templates. `readTemplate` throws when one is missing. */
export async function scaffold(
  readTemplate: (name: string) => Promise<string>,
  projectName: string,
  findings: ProjectFindings,
): Promise<readonly ScaffoldFile[]> {
  const words = tokens(projectName, findings);
  return Promise.all(
    TEMPLATES.map(async ({ path, template, generated }) => ({
      path,
      text: fill(await readTemplate(template), words),
      generated,
    })),
  );
}

type Tokens = Readonly<Record<string, string>>;

function tokens(projectName: string, findings: ProjectFindings): Tokens {
  const test = findings.tests[0];
  return {
    project_name: JSON.stringify(projectName),
    // A heading is one line of text; a name with a line break or markup must stay one.
    project_title: projectName.replaceAll(/[^\p{L}\p{N} ._-]/gu, ' ').trim() || 'Project',
    tests_required: test === undefined ? '[]' : JSON.stringify([test.argv]),
    tests_policy: test === undefined ? 'false' : 'true',
    prepare_comment: prepareComment(findings),
    programs_comment: programsComment(findings),
  };
}

function prepareComment({ packageManager }: ProjectFindings): string {
  if (packageManager === null) return '';
  const { name, install, hosts, dir } = packageManager;
  // A lock file that names no host leaves the name to the operator.
  const named = hosts.length > 0 ? hosts : ['registry.example.com'];
  const prepare = `{argv: ${JSON.stringify(install)}, hosts: ${JSON.stringify(named)}, dir: ${dir}}`;
  const why = `  # With this line, ${name} installs the dependencies once per lock file, in a sealed container that reaches these hosts only${hosts.length > 0 ? '' : ' (put the host of your registry there)'}.`;
  return `${why}\n  # prepare: ${prepare}\n`;
}

function programsComment({ programs }: ProjectFindings): string {
  const blocks = programs.map((name) => `  # ${name}:\n  #   kind: ${name}\n  #   image: null\n`);
  if (blocks.length === 0) return '';
  const found = `  # Found on PATH: ${programs.join(', ')}. This version has the generic adapter only; entries like these come later.\n`;
  return found + blocks.join('');
}

function fill(template: string, words: Tokens): string {
  return template.replaceAll(/%%(\w+)%%\n?/g, (whole, name: string) => {
    const word = words[name];
    if (word === undefined) throw new Error(`the template names ${name}, which nobody fills in`);
    // A token that is a whole block brings its own line end.
    return name.endsWith('_comment') ? word : word + (whole.endsWith('\n') ? '\n' : '');
  });
}
