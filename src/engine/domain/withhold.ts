/**
 * True for sensitive paths: never put into a source directory or workspace, never accepted from one.
 * `matchesExtra` answers for the patterns that the configuration adds; it can only add.
 */
export function isWithheld(path: string, matchesExtra: (path: string) => boolean = () => false): boolean {
  const folded = path.toLowerCase();
  if (NEVER_SEEDED.test(folded)) return true;
  const name = folded.slice(folded.lastIndexOf('/') + 1);
  const listed = WITHHELD.some(({ names, below, except }) => {
    if (below?.test(folded)) return true;
    return names?.test(name) === true && except?.test(name) !== true;
  });
  return listed || matchesExtra(path);
}

interface WithheldRule {
  /** As the documentation shows it. */
  readonly label: string;
  /** Matched against the lower-cased last part of the path. */
  readonly names?: RegExp;
  readonly except?: RegExp;
  /** Matched against the whole lower-cased path. */
  readonly below?: RegExp;
}

/** git's own data in any directory, and what belongs to this program at the root. */
const NEVER_SEEDED = /(?:^|\/)\.git(?:\/|$)|^\.roundtable(?:\/|$)/;

/** The documented list, at any depth, in any case. */
export const WITHHELD: readonly WithheldRule[] = [
  {
    label: '.env* and *.env, but not .env.example, .env.sample, .env.template',
    names: /^\.env|.\.env$/,
    except: /\.env\.(?:.+\.)?(?:example|sample|template)$/,
  },
  { label: '*.pem, *.key, *.p8, *.p12, *.pfx, *.ppk', names: /\.(?:pem|key|p8|p12|pfx|ppk)$/ },
  { label: '*.jks, *.keystore, *.kdbx', names: /\.(?:jks|keystore|kdbx)$/ },
  { label: 'id_rsa*, id_dsa*, id_ecdsa*, id_ed25519*', names: /^id_(?:rsa|dsa|ecdsa|ed25519)/ },
  { label: '.npmrc, .yarnrc, .pypirc', names: /^\.(?:npmrc|yarnrc|pypirc)$/ },
  { label: '.netrc, _netrc, .pgpass, .my.cnf, .htpasswd', names: /^(?:[._]netrc|\.pgpass|\.my\.cnf|\.htpasswd)$/ },
  { label: '.git-credentials', names: /^\.git-credentials$/ },
  { label: 'credentials, credentials.json', names: /^credentials(?:\.json)?$/ },
  {
    label: '*service-account*.json, client_secret*.json',
    names: /^(?:.*service[-_]?account.*|client_secret.*)\.json$/,
  },
  { label: 'application_default_credentials.json', names: /^application_default_credentials\.json$/ },
  { label: '*.tfstate, *.tfstate.backup', names: /\.tfstate(?:\.backup)?$/ },
  { label: '.aws/, .ssh/, .gnupg/, .azure/, .kube/', below: /(?:^|\/)\.(?:aws|ssh|gnupg|azure|kube)\// },
  { label: '.config/gcloud/', below: /(?:^|\/)\.config\/gcloud\// },
  { label: '.docker/config.json, .dockercfg', below: /(?:^|\/)(?:\.docker\/config\.json|\.dockercfg)$/ },
];
