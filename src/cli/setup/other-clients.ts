/** A word of another client and its equivalent: a suggestion and, with a client, a row of docs/guides/coming-from.md. */
export interface OldWord {
  readonly client: string;
  /** In capitals: any word. */
  readonly was: string;
  readonly now: string;
  readonly note?: string;
}

const elsewhere = "Find members, certificates, notifications and metrics on the service's website";
const upgrade = 'Upgrade mycli with the package manager that installed it';

/** The first row that fits is suggested. */
export const oldCommands: readonly OldWord[] = [
  {client: 'pwa-kit-dev', was: 'push', now: 'bundle:push', note: 'the same `-t`, `-m`, `-b` and `--wait`'},
  {client: 'pwa-kit-dev', was: 'save-credentials', now: 'auth:login', note: 'asks, or reads the key from stdin'},
  {client: 'pwa-kit-dev', was: 'tail-logs', now: 'logs'},
  {client: 'sfnext', was: 'push', now: 'bundle:push', note: 'the same `-p`, `-m`, `-b` and `--wait`'},
  {client: 'sfnext', was: 'create-bundle', now: 'bundle:build'},
  {client: 'b2c', was: 'mrt bundle deploy ID', now: 'bundle:deploy ID'},
  {client: 'b2c', was: 'mrt bundle deploy', now: 'bundle:push', note: 'deploys if there is a target'},
  {client: 'b2c', was: 'mrt bundle save', now: 'bundle:build'},
  {client: 'b2c', was: 'mrt bundle list', now: 'bundle:list'},
  {client: 'b2c', was: 'mrt bundle history', now: 'bundle:history'},
  {client: 'b2c', was: 'mrt bundle download ID', now: 'bundle:download ID', note: 'resumes, and verifies'},
  {client: 'b2c', was: 'mrt bundle delete ID', now: 'bundle:delete ID', note: 'asks; never what a target runs'},
  {client: 'b2c', was: 'mrt bundle upload-v2', now: 'bundle:push --v2 --no-target'},
  {client: 'b2c', was: 'mrt env list', now: 'target:list'},
  {client: 'b2c', was: 'mrt env get', now: 'target:diff --init', note: 'writes its settings into the configuration'},
  {client: 'b2c', was: 'mrt env update', now: 'target:apply', note: '`targets.SLUG.settings`'},
  {client: 'b2c', was: 'mrt env redirect', now: 'target:apply', note: '`targets.SLUG.redirects`'},
  {client: 'b2c', was: 'mrt env access-control', now: 'target:apply', note: '`targets.SLUG.access`'},
  {client: 'b2c', was: 'mrt env set-primary', now: 'target:apply', note: '`targets.SLUG.primary`'},
  {client: 'b2c', was: 'mrt env b2c', now: 'help', note: 'Only on its website; target:create --copy-from copies it'},
  {client: 'b2c', was: 'mrt env create SLUG', now: 'target:create SLUG', note: 'waits until it is ready'},
  {client: 'b2c', was: 'mrt env clone SLUG', now: 'target:create SLUG --copy-from TARGET'},
  {client: 'b2c', was: 'mrt env delete SLUG', now: 'target:delete SLUG'},
  {client: 'b2c', was: 'mrt env invalidate', now: 'target:invalidate', note: '`push --invalidate`, too'},
  {client: 'b2c', was: 'mrt env var list', now: 'env:list'},
  {client: 'b2c', was: 'mrt env var set', now: 'env:set', note: 'from a file or stdin, too'},
  {client: 'b2c', was: 'mrt env var delete', now: 'env:unset'},
  {client: 'b2c', was: 'mrt env var push', now: 'env:set --from .env', note: '`env:diff` shows what would change'},
  {client: 'b2c', was: 'mrt project list', now: 'project:list'},
  {client: 'b2c', was: 'mrt project', now: 'project:list', note: "others: on the service's website, with members"},
  {client: 'b2c', was: 'mrt org', now: 'help', note: elsewhere},
  {client: 'b2c', was: 'mrt user api-key', now: 'auth:rotate'},
  {client: 'b2c', was: 'mrt tail-logs', now: 'logs'},
  {client: 'b2c', was: 'mrt save-credentials', now: 'auth:login'},
  {client: 'b2c', was: 'mrt', now: 'help', note: 'The topics are bundle, target and env here'},
  {client: 'vercel', was: 'ls', now: 'bundle:list'},
  {client: 'vercel', was: 'link', now: 'init'},
  {client: 'vercel', was: 'whoami', now: 'auth:status'},
  {client: 'vercel', was: 'dev', now: 'runtime:start'},
  {client: 'vercel', was: 'env add', now: 'env:set'},
  {client: 'vercel', was: 'env rm', now: 'env:unset'},
  {client: 'netlify', was: 'env:import FILE', now: 'env:set --from FILE'},
  {client: 'wrangler', was: 'publish', now: 'bundle:push'},
  {client: 'wrangler', was: 'tail', now: 'logs'},
  {client: 'wrangler', was: 'secret put', now: 'env:set'},
  {client: 'wrangler', was: 'versions list', now: 'bundle:list'},
  {client: 'wrangler', was: 'deployments list', now: 'bundle:history'},
  {client: 'firebase', was: 'emulators:start', now: 'runtime:start'},
  {client: 'firebase', was: 'hosting:clone', now: 'bundle:promote', note: 'between targets of a project'},
  {client: 'firebase', was: 'hosting:channel:deploy', now: 'preview:up'},
  {client: 'firebase', was: 'hosting:channel:delete', now: 'preview:down'},
  {client: 'others', was: 'bundles', now: 'bundle:list'},
  {client: 'others', was: 'targets', now: 'target:list'},
  {client: 'others', was: 'envs', now: 'target:list'},
  {client: 'others', was: 'environments', now: 'target:list'},
  {client: 'others', was: 'projects', now: 'project:list'},
  {client: 'others', was: 'metrics', now: 'help', note: elsewhere},
  {client: 'others', was: 'members', now: 'help', note: elsewhere},
  {client: 'others', was: 'ps', now: 'status'},
  {client: 'others', was: 'info', now: 'status'},
  {client: 'others', was: 'release', now: 'bundle:push'},
  {client: 'others', was: 'pull ID', now: 'bundle:download ID'},
  {client: 'others', was: 'pull', now: 'bundle:download latest'},
  {client: 'others', was: 'rm ID', now: 'bundle:delete ID'},
  {client: 'others', was: 'remove ID', now: 'bundle:delete ID'},
  {client: 'others', was: 'destroy SLUG', now: 'target:delete SLUG'},
  {client: 'others', was: 'env pull', now: 'env:list', note: 'names only: nobody can read values'},
  {client: 'others', was: 'rm', now: 'bundle:delete'},
  {client: 'others', was: 'remove', now: 'bundle:delete'},
  {client: 'others', was: 'previews', now: 'preview:list'},
  {client: 'others', was: 'vars', now: 'env:list'},
  {client: 'others', was: 'secrets', now: 'env:list'},
  {client: 'others', was: 'serve', now: 'runtime:start'},
  {client: 'others', was: 'upgrade', now: 'help', note: upgrade},
  {client: 'others', was: 'update', now: 'help', note: upgrade},
  {client: 'others', was: 'config get', now: 'config:show'},
  {client: 'others', was: 'log', now: 'logs'},
  {client: 'others', was: 'variables', now: 'env:list'},
  {client: 'others', was: 'env get', now: 'env:list', note: 'names only: nobody can read values'},
  {client: 'others', was: 'env:get', now: 'env:list', note: 'names only: nobody can read values'},
  {client: 'others', was: 'env add', now: 'env:set'},
  {client: 'others', was: 'preview rm BRANCH', now: 'preview:down BRANCH'},
  {client: 'others', was: 'preview rm', now: 'preview:down'},
  {client: 'others', was: 'preview delete BRANCH', now: 'preview:down BRANCH'},
  {client: 'others', was: 'preview delete', now: 'preview:down'},
  {client: 'others', was: 'target rm SLUG', now: 'target:delete SLUG'},
  {client: 'others', was: 'target rm', now: 'target:delete'},
];

export const oldFlags: readonly OldWord[] = [
  {client: 'pwa-kit-dev', was: '-s', now: '--project'},
  {client: 'pwa-kit-dev', was: '--cloud-origin', now: '--origin'},
  {client: 'pwa-kit-dev', was: '--credentialsFile', now: '--api-key @FILE', note: 'or `mycli login` once'},
  {client: 'sfnext', was: '-d', now: '--project-directory'},
  {client: 'b2c, sfnext', was: '-e', now: '--target'},
  {client: 'b2c, sfnext', was: '--environment', now: '--target'},
  {client: 'b2c', was: '--mrt-backend', now: '--runtime-backend'},
  {client: 'b2c', was: '--storefront', now: '--project'},
  {client: 'b2c', was: '-u', now: '--origin'},
  {client: 'b2c', was: '--credentials-file', now: '--api-key @FILE', note: 'or `mycli login` once'},
  {client: 'vercel', was: '--prod', now: '--target production'},
  {client: 'netlify', was: '--dir', now: '--build-directory'},
  {client: 'wrangler', was: '--env', now: '--target'},
  {client: 'others', was: '--production', now: '--target production'},
  {client: 'others', was: '--to', now: '--target'},
  {client: 'others', was: '--verbose', now: '--debug'},
];

const askedAbout = 'mycli asks only about a new name that may be a typo; --create skips that';

/** Flags of others that ask for what happens anyway, by the commands that have no such flag. */
export const needlessFlags: readonly {readonly flags: RegExp; readonly command?: string; readonly why: string}[] = [
  {flags: /^-(?:f|-follow|-tail)$/, command: 'logs', why: 'logs follows until Ctrl-C'},
  {flags: /^--wait-for-slot$/, command: 'bundle:rollback', why: 'what to roll back to may change meanwhile'},
  {flags: /^-(?:y|-yes)$/, command: 'bundle:push', why: askedAbout},
  {flags: /^-(?:y|-yes)$/, command: 'bundle:deploy', why: askedAbout},
  {flags: /^-(?:y|-yes)$/, why: 'this command asks for no confirmation'},
];

/** What the words of another client are here. That client's name may go first. */
interface NamedCommand {
  /** The words that were taken for its name. What follows them may be a secret. */
  readonly words: readonly string[];
  readonly command: readonly string[];
  readonly note?: string | undefined;
}

/** The command of ours that words of another client stand for; undefined if there is none. */
export function commandNamed(typed: readonly string[], known: readonly string[]): NamedCommand | undefined {
  for (const {client, was, now, note} of oldCommands) {
    const words = typed[0] === client ? typed.slice(1) : typed;
    const pattern = was.split(' ');
    const values = new Map<string, string>();
    const fits = pattern.every((part, at) => {
      const word = words[at];
      if (!isPlaceholder(part)) return word === part;
      if (word !== undefined) values.set(part, word);
      return word !== undefined;
    });
    const command = now.split(' ').map((part) => values.get(part) ?? part);
    const count = pattern.length + typed.length - words.length;
    if (fits && known.includes(command[0] ?? '')) return {words: typed.slice(0, count), command, note};
  }
  return undefined;
}

/** What a flag of another client is here, without its dashes, if the command has it. */
export function flagNamed(name: string, known: readonly string[]): string | undefined {
  const now = oldFlags.find(({was}) => was.replace(/^-+/, '') === name)?.now.slice('--'.length);
  return now !== undefined && known.includes(now.replace(/ .*/, '')) ? now : undefined;
}

function isPlaceholder(word: string): boolean {
  return /^[A-Z]+$/.test(word);
}

const mrt = (name: string) => [`MRT_${name}`, `SFCC_MRT_${name}`];

export const defaultHost = 'cloud.mobify.com';
export const deploymentScope = 'sfcc.storefront.deployments.rw';
const defaultAccountManager = 'account.demandware.com';

/** The part of a tenant ID that is in the organization ID and in the scope. */
export function tenant(id: string): string {
  return id.replaceAll('-', '_').replace(/^f_ecom_/, '');
}

export type OldKey =
  | ('runtimeBackend' | 'projectSlug' | 'targetSlug' | 'origin' | 'apiKey' | 'apiUser')
  | ('apiOrigin' | 'organizationId' | 'tokenUrl' | 'clientId' | 'clientSecret' | 'scopes');

interface OldSetting {
  readonly key: OldKey;
  readonly variables: readonly string[];
  /** Its key in dw.json and in `b2c` of package.json, also in kebab-case. */
  readonly field?: string;
  /** What it must look like to become part of a URL or an ID. */
  readonly shape?: RegExp;
  readonly becomes?: (value: string) => string;
  /** The value when nothing sets it, but something sets `needs`. */
  readonly standard?: {readonly value: string; readonly needs: OldKey};
  readonly note?: string;
}

const tokenUrl = (host: string) => `https://${host}/dwsso/oauth2/access_token`;

/** What other clients call their settings, and what becomes of each: a row of docs/guides/coming-from.md. */
export const oldSettings: readonly OldSetting[] = [
  {key: 'apiKey', variables: mrt('API_KEY'), field: 'mrtApiKey'},
  {key: 'apiUser', variables: ['MRT_USER']},
  {key: 'projectSlug', variables: [...mrt('PROJECT'), ...mrt('STOREFRONT')], field: 'mrtProject'},
  {key: 'targetSlug', variables: [...mrt('ENVIRONMENT'), ...mrt('TARGET')], field: 'mrtEnvironment'},
  {
    key: 'runtimeBackend',
    variables: mrt('BACKEND'),
    becomes: (name) => (name === 'scapi' ? 'api' : 'legacy'),
    note: '`api` for `scapi`, else `legacy`',
  },
  {
    key: 'origin',
    variables: mrt('CLOUD_ORIGIN'),
    field: 'mrtOrigin',
    standard: {value: `https://${defaultHost}`, needs: 'apiKey'},
  },
  {
    key: 'apiOrigin',
    variables: ['SFCC_SHORTCODE'],
    field: 'shortCode',
    shape: /^[a-z\d-]+$/i,
    becomes: (code) => `https://${code}.api.commercecloud.salesforce.com`,
  },
  {
    key: 'organizationId',
    variables: ['SFCC_TENANT_ID'],
    field: 'tenantId',
    shape: /^[\w-]+$/,
    becomes: (id) => `f_ecom_${tenant(id)}`,
    note: 'with `_` for each `-`: `abcd-001` becomes `f_ecom_abcd_001`',
  },
  {key: 'clientId', variables: ['SFCC_CLIENT_ID'], field: 'clientId'},
  {key: 'clientSecret', variables: ['SFCC_CLIENT_SECRET'], field: 'clientSecret'},
  {
    key: 'tokenUrl',
    variables: ['SFCC_ACCOUNT_MANAGER_HOST'],
    field: 'accountManagerHost',
    shape: /^[\w.-]+(?::\d+)?$/,
    becomes: tokenUrl,
    standard: {value: tokenUrl(defaultAccountManager), needs: 'clientId'},
  },
  {
    key: 'scopes',
    variables: ['SFCC_OAUTH_SCOPES'],
    field: 'oauthScopes',
    note: `after \`SALESFORCE_COMMERCE_API:abcd_001\` and \`${deploymentScope}\``,
  },
];

/** A variable with the path of a file like `~/.mobify`. */
export const credentialsFileVariable = 'MRT_CREDENTIALS_FILE';
