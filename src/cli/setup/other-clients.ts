import type {Suggestion} from '../../errors/suggestion.js';

/** A word of another client and its equivalent: a suggestion and, for a client, a row of docs/guides/coming-from.md. */
export interface OldWord {
  readonly client: string;
  /** `rm|remove ID`: a word in capitals stands for any, bars separate alternatives. */
  readonly was: string;
  readonly now: string;
  /** What else it may stand for. */
  readonly or?: string;
  /** A string in rows of the guide. */
  readonly note?: Suggestion;
}

const functions: Suggestion = [
  'The app of a target is one server. To see what each target runs, run ',
  {run: ['status']},
];
const scripts: Suggestion = ['mycli runs no scripts of package.json: run npm run build, then ', {run: ['bundle:push']}];
const elsewhere = "Find members, certificates, notifications and metrics on the service's website";
const onWebsite = "Create and delete projects on the service's website";
const apply = {run: ['target:apply', 'SLUG']};
const domain: Suggestion = ['Set externalHost in targets.SLUG.settings of mycli.config, then run ', apply];
const ofTargets: Suggestion = ['Set redirects and access in targets.SLUG of mycli.config, then run ', apply];
const oneTarget = 'Pass --target SLUG, or set targetSlug in mycli.config';
const running: Suggestion = [
  'Neither a deployment nor an app can be stopped. To deploy what ran before, run ',
  {run: ['bundle:rollback']},
];
const watched: Suggestion = ['mycli watches no files. After each build, run ', {run: ['bundle:push']}];
const manual: Suggestion = ['Read the folder docs of the package, or run ', {run: ['COMMAND', '--help']}];
const newVersion = 'Upgrade mycli with the package manager that installed it';
const unreachable = 'The service runs the app: no command reaches it';
const configuration: Suggestion = [
  'Settings are in mycli.config. To set variables of a target, run ',
  {run: ['env:set']},
];
const variables = 'secret|secrets|var|vars|variables';

/** The first row that fits is suggested. */
export const oldCommands: readonly OldWord[] = [
  {client: 'pwa-kit-dev', was: 'push', now: 'bundle:push'},
  {client: 'pwa-kit-dev', was: 'save-credentials', now: 'auth:login', note: 'asks, or reads the key from stdin'},
  {client: 'pwa-kit-dev', was: 'tail-logs', now: 'logs'},
  {client: 'sfnext', was: 'push', now: 'bundle:push'},
  {client: 'sfnext', was: 'create-bundle', now: 'bundle:build'},
  {client: 'b2c', was: 'mrt bundle deploy ID', now: 'bundle:deploy ID'},
  {client: 'b2c', was: 'mrt bundle deploy', now: 'bundle:push', note: 'deploys if there is a target'},
  {client: 'b2c', was: 'mrt bundle save', now: 'bundle:build'},
  {client: 'b2c', was: 'mrt bundle list', now: 'bundle:list'},
  {client: 'b2c', was: 'mrt bundle history', now: 'bundle:history'},
  {client: 'b2c', was: 'mrt bundle download ID', now: 'bundle:download ID', note: 'resumes, and verifies'},
  {client: 'b2c', was: 'mrt bundle delete ID', now: 'bundle:delete ID', note: 'asks; the service keeps live bundles'},
  {client: 'b2c', was: 'mrt bundle upload-v2', now: 'bundle:push --v2 --no-target'},
  {client: 'b2c', was: 'mrt env list', now: 'target:list'},
  {client: 'b2c', was: 'mrt env get', now: 'target:diff --init', note: 'writes its settings into the configuration'},
  {client: 'b2c', was: 'mrt env update', now: 'target:apply', note: 'applies `targets.SLUG.settings`'},
  {client: 'b2c', was: 'mrt env redirect', now: 'target:apply', note: 'applies `targets.SLUG.redirects`'},
  {client: 'b2c', was: 'mrt env access-control', now: 'target:apply', note: 'applies `targets.SLUG.access`'},
  {client: 'b2c', was: 'mrt env set-primary', now: 'target:apply', note: 'applies `targets.SLUG.primary`'},
  {client: 'b2c', was: 'mrt env b2c', now: 'help', note: 'Set it on the website; target:create --copy-from copies it'},
  {client: 'b2c', was: 'mrt env create SLUG', now: 'target:create SLUG', note: 'waits until it is ready'},
  {client: 'b2c', was: 'mrt env clone SLUG', now: 'target:create SLUG --copy-from TARGET'},
  {client: 'b2c', was: 'mrt env delete SLUG', now: 'target:delete SLUG'},
  {client: 'b2c', was: 'mrt env invalidate', now: 'target:invalidate', note: 'or `push --invalidate`'},
  {client: 'b2c', was: 'mrt env var list', now: 'env:list'},
  {client: 'b2c', was: 'mrt env var set', now: 'env:set', note: 'also reads a file or stdin'},
  {client: 'b2c', was: 'mrt env var delete', now: 'env:unset'},
  {client: 'b2c', was: 'mrt env var push', now: 'env:set --from .env', note: '`env:diff` shows what would change'},
  {client: 'b2c', was: 'mrt project list', now: 'project:list'},
  {client: 'b2c', was: 'mrt project', now: 'project:list', note: "the rest is on the service's website"},
  {client: 'b2c', was: 'mrt org', now: 'help', note: elsewhere},
  {client: 'b2c', was: 'mrt user api-key', now: 'auth:rotate'},
  {client: 'b2c', was: 'mrt tail-logs', now: 'logs'},
  {client: 'b2c', was: 'mrt save-credentials', now: 'auth:login'},
  {client: 'b2c', was: 'mrt', now: 'help', note: 'mycli has the topics bundle, target and env'},
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
  {client: 'others', was: 'bundles|builds|versions', now: 'bundle:list'},
  {client: 'others', was: 'bundle create', now: 'bundle:build'},
  {client: 'others', was: 'show|info|get|describe ID', now: 'bundle:inspect ID'},
  {client: 'others', was: 'archive|pack|package', now: 'bundle:build'},
  {client: 'others', was: 'release|upload', now: 'bundle:push'},
  {client: 'others', was: 'redeploy ID', now: 'bundle:deploy ID'},
  {client: 'others', was: 'redeploy', now: 'bundle:deploy latest'},
  {client: 'others', was: 'undo|revert', now: 'bundle:rollback'},
  {client: 'others', was: 'deployments|deploys|releases', now: 'bundle:history'},
  {client: 'others', was: 'pull ID', now: 'bundle:download ID'},
  {client: 'others', was: 'pull SLUG', now: 'bundle:download running:SLUG'},
  {client: 'others', was: 'pull', now: 'bundle:download running:'},
  {client: 'others', was: 'rm|remove|destroy ID', now: 'bundle:delete ID'},
  {client: 'others', was: 'rm|remove|destroy SLUG', now: 'target:delete SLUG'},
  {client: 'others', was: 'rm|remove|destroy', now: 'bundle:delete', or: 'target:delete'},
  {client: 'others', was: 'clean|cleanup', now: 'bundle:prune'},
  {client: 'others', was: 'envs', now: 'target:list', or: 'env:list'},
  {client: 'others', was: 'targets|environment|environments', now: 'target:list'},
  {client: 'others', was: 'target show|info|get|describe', now: 'status'},
  {client: 'others', was: 'cache purge|clear|invalidate', now: 'target:invalidate'},
  {client: 'others', was: 'cache|purge', now: 'target:invalidate'},
  {client: 'others', was: 'domains|alias', now: 'help', note: domain},
  {client: 'others', was: 'redirects|access', now: 'help', note: ofTargets},
  {client: 'others', was: 'target use|switch|set', now: 'help', note: oneTarget},
  {client: 'others', was: 'use|switch', now: 'help', note: oneTarget},
  {client: 'others', was: 'previews|channels', now: 'preview:list'},
  {client: 'others', was: 'hosting channel list', now: 'preview:list'},
  {client: 'others', was: 'preview create|new|add|deploy', now: 'preview:up'},
  {client: 'others', was: 'preview rm|remove|delete', now: 'preview:down'},
  {client: 'others', was: 'vars|env set|add|put', now: 'env:set'},
  {client: 'others', was: 'env create|clone', now: 'target:create'},
  {client: 'others', was: 'env invalidate', now: 'target:invalidate'},
  {client: 'others', was: 'env delete', now: 'env:unset', or: 'target:delete'},
  {client: 'others', was: 'env push FILE', now: 'env:set --from FILE'},
  {client: 'others', was: 'env push', now: 'env:set --from .env'},
  {client: 'others', was: 'vars|env rm|remove|delete|unset', now: 'env:unset'},
  {client: 'others', was: 'vars|env get|pull|export|show|list|ls', now: 'env:list'},
  {client: 'others', was: variables, now: 'env:list'},
  {client: 'others', was: 'config get|list|ls|view', now: 'config:show'},
  {client: 'others', was: 'config set|unset', now: 'help', note: configuration},
  {client: 'others', was: 'settings', now: 'config:show'},
  {client: 'others', was: 'projects|sites|apps', now: 'project:list'},
  {client: 'others', was: 'project create|new|delete|rm|remove', now: 'help', note: onWebsite},
  {client: 'others', was: 'ps|info|describe', now: 'status'},
  {client: 'others', was: 'cancel|abort|stop|undeploy|unpublish', now: 'help', note: running},
  {client: 'others', was: 'watch', now: 'help', note: watched},
  {client: 'others', was: 'log', now: 'logs'},
  {client: 'others', was: 'functions', now: 'help', note: functions},
  {client: 'others', was: 'run build', now: 'help', note: scripts},
  {client: 'others', was: 'serve|local', now: 'runtime:start'},
  {client: 'others', was: 'runtime stop', now: 'help', note: 'runtime:start ends with Ctrl-C'},
  {client: 'others', was: 'create|new SLUG', now: 'target:create SLUG', or: 'init'},
  {client: 'others', was: 'create|new|setup|configure', now: 'init'},
  {client: 'others', was: 'unlink', now: 'help', note: 'mycli.config names the project: edit or delete it'},
  {client: 'others', was: 'account|me|token', now: 'auth:status'},
  {client: 'others', was: 'signin|logon', now: 'auth:login'},
  {client: 'others', was: 'signout|logoff', now: 'auth:logout'},
  {client: 'others', was: 'check|lint|validate', now: 'doctor'},
  {client: 'others', was: 'autocomplete', now: 'completion'},
  {client: 'others', was: 'docs|manual', now: 'help', note: manual},
  {client: 'others', was: 'upgrade|update|self-update', now: 'help', note: newVersion},
  {client: 'others', was: 'restart|scale|ssh|shell|exec', now: 'help', note: unreachable},
  {client: 'others', was: 'members|teams|users|orgs|certs|metrics|usage|billing', now: 'help', note: elsewhere},
  {client: 'others', was: 'TOPIC ls', now: 'TOPIC:list'},
  {client: 'others', was: 'TOPIC add|new', now: 'TOPIC:create'},
  {client: 'others', was: 'TOPIC rm|remove|destroy', now: 'TOPIC:delete'},
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
  {client: 'others', was: '--key', now: '--api-key'},
  {client: 'others', was: '--file', now: '--from'},
  {client: 'others', was: '--to', now: '--target'},
  {client: 'others', was: '--steps', now: '--to BUNDLE'},
  {client: 'others', was: '-n', now: '--limit'},
  {client: 'others', was: '-o|--output|--format', now: '--json'},
  {client: 'others', was: '-v|--verbose', now: '--debug'},
];

const askedAbout = 'mycli asks only about a new target or project that may be a typo. --create allows it';

const statusOnce = 'status shows the present state once; to follow a deployment, pass --wait to what deploys';

/** Flags of others that ask for what happens anyway, by the commands that have no such flag. */
const needlessFlags: readonly {readonly flags: RegExp; readonly command?: string; readonly why: string}[] = [
  {flags: /^-(?:f|-follow|-no-follow|-tail)$/, command: 'logs', why: 'logs follows until Ctrl-C'},
  {flags: /^-(?:n|-limit|-lines)$/, command: 'logs', why: 'logs follows until Ctrl-C; --since AGE drops older entries'},
  {flags: /^-(?:w|-watch)$/, command: 'status', why: statusOnce},
  {flags: /^-(?:b|-dir|-build-directory)$/, command: 'bundle:deploy', why: 'deploy takes a bundle, push a folder'},
  {flags: /^--wait-for-slot$/, command: 'bundle:rollback', why: 'what to roll back to may change meanwhile'},
  {flags: /^-(?:w|-wait)$/, command: 'preview:up', why: 'preview:up always waits'},
  {flags: /^-(?:t|-target)$/, command: 'preview:up', why: 'the branch names the target'},
  {flags: /^--if-changed$/, command: 'preview:up', why: 'preview:up never uploads an unchanged bundle again'},
  {flags: /^-(?:y|-yes)$/, command: 'bundle:push', why: askedAbout},
  {flags: /^-(?:y|-yes)$/, command: 'bundle:deploy', why: askedAbout},
  {flags: /^-(?:y|-yes)$/, why: 'this command asks for no confirmation'},
];

/** Why a command needs no flag like that of another client. */
export function whyNeedless(name: string, command: string | undefined): string | undefined {
  return needlessFlags.find(({flags, command: only = command}) => flags.test(name) && only === command)?.why;
}

/** What a flag of another client is here, without its dashes, if the command has it. */
export function flagNamed(name: string, known: readonly string[]): string | undefined {
  const now = oldFlags.find(({was}) => was.split(/(?:^|\|)-+/).includes(name))?.now.slice('--'.length);
  return now !== undefined && known.includes(now.replace(/ .*/, '')) ? now : undefined;
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
    note: `appended to \`SALESFORCE_COMMERCE_API:abcd_001\` and \`${deploymentScope}\``,
  },
];

/** A variable with the path of a file like `~/.mobify`. */
export const credentialsFileVariable = 'MRT_CREDENTIALS_FILE';
