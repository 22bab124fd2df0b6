import type {Redirect, TargetSettings} from '../config.js';
import type {SettingRows} from './row.js';
import * as schemas from './schemas.js';
import {checkDefaults, checkFields, defaultWait} from './schemas.js';
import {redirectList, settingsSchema} from './target-settings.js';

// Types that declarations of the rows can name: generators of schemas read no `import('...')`.
const settingsOfTarget: schemas.Schema<TargetSettings> = settingsSchema();
const settingsOfPreview: schemas.Schema<TargetSettings> = settingsSchema(['name']);
const redirects: schemas.Schema<string | readonly Redirect[]> = redirectList;

const off = {schema: schemas.toggle, default: false} as const;
const toggleOfTarget = {schema: schemas.toggle, perTarget: true} as const;

export const deploymentSets = {
  wait: {
    wait: {
      flag: {name: 'wait', char: 'w'},
      ...off,
      summary: 'Wait until changes are live.',
    },
    pollInterval: {
      variable: 'MYCLI_POLL_INTERVAL',
      schema: schemas.pollSeconds,
      default: defaultWait.pollInterval,
      summary: 'Seconds between status checks; default {default}.',
    },
    timeout: {
      flag: {name: 'timeout', value: 'SECONDS'},
      schema: schemas.waitSeconds,
      default: defaultWait.timeout,
      summary: 'Limit for waiting, 0 for none; default {default}.',
      notes: 'In seconds.',
    },
  },
  slot: {
    waitForSlot: {
      flag: {name: 'wait-for-slot'},
      ...off,
      summary: 'Wait for a running deployment to end first.',
      details: 'The limit is --timeout.',
      notes: 'The limit is `timeout`. By default, a busy target is an error.',
    },
  },
  create: {
    create: {
      flag: {name: 'create'},
      schema: schemas.toggle,
      summary: 'Allow a new target or project.',
      details:
        '--no-create refuses one. By default, mycli says that it is new, and asks in a terminal if it may be a typo.',
      notes: 'False refuses one. In the library, `confirmNew` asks.',
    },
  },
  check: {
    check: {
      flag: {name: 'check', value: 'URL|PATH'},
      config: 'check.url',
      schema: schemas.checks,
      syntax: 'list',
      receives: {secrets: ['checkPassword', 'checkHeaders']},
      perTarget: true,
      summary: 'URL to check after the deployment.',
      details: `A path is below the URL of the target. Implies --wait. Repeatable, comma-separated or a JSON array.`,
    },
    checkStatus: {
      variable: 'MYCLI_CHECK_STATUS',
      config: 'check.status',
      schema: checkFields.status,
      perTarget: true,
      summary: 'HTTP status to accept; default: any 2xx, after redirects to the same origin.',
      details: 'Repeatable.',
    },
    checkText: {
      variable: 'MYCLI_CHECK_TEXT',
      config: 'check.text',
      schema: checkFields.text,
      perTarget: true,
      summary: 'Text that the response must contain.',
      notes: 'Matched literally, in the first 4 MiB; at most 1,000 characters.',
    },
    checkHeaders: {
      variable: 'MYCLI_CHECK_HEADER',
      config: 'check.headers',
      schema: schemas.headers,
      syntax: 'headers',
      perTarget: true,
      summary: 'Header to send with a check, to its own origin only.',
      details: '@FILE reads the value from a file. The variable has NAME=VALUE, comma-separated, or a JSON object.',
    },
    checkUser: {
      variable: 'MYCLI_CHECK_USER',
      config: 'check.user',
      schema: checkFields.user,
      syntax: 'id',
      perTarget: true,
      summary: 'User to log in as for a check, with the password in MYCLI_CHECK_PASSWORD.',
      details: 'HTTP basic authentication, for the origin of the check only.',
    },
    checkPassword: {
      variable: 'MYCLI_CHECK_PASSWORD',
      config: false,
      schema: schemas.nonEmpty,
      syntax: 'secret',
      label: 'password of the check',
      summary: 'Password of the user of a check.',
    },
    checkRetries: {
      variable: 'MYCLI_CHECK_RETRIES',
      config: 'check.retries',
      schema: checkFields.retries,
      perTarget: true,
      default: checkDefaults.retries,
      summary: 'Maximum number of retries of a check; default {default}.',
    },
    checkInterval: {
      variable: 'MYCLI_CHECK_INTERVAL',
      config: 'check.interval',
      schema: checkFields.interval,
      perTarget: true,
      default: checkDefaults.interval,
      summary: 'Seconds between attempts of a check; default {default}.',
    },
    checkTimeout: {
      variable: 'MYCLI_CHECK_TIMEOUT',
      config: 'check.timeout',
      schema: checkFields.timeout,
      perTarget: true,
      default: checkDefaults.timeout,
      summary: 'Maximum seconds for one attempt of a check; default {default}.',
    },
  },
  rollback: {
    rollbackOnFailure: {
      flag: {name: 'rollback-on-failure'},
      config: 'check.rollbackOnFailure',
      ...off,
      perTarget: true,
      summary: 'Roll back if the deployment or a check fails.',
      details: 'Implies --wait.',
    },
  },
  preview: {
    copyFrom: {
      flag: {name: 'copy-from', value: 'SLUG'},
      config: 'preview.copyFrom',
      schema: schemas.slug,
      syntax: 'id',
      summary: 'Target whose variables and settings a new preview gets.',
    },
    previewSettings: {
      config: 'preview.settings',
      type: "Omit<TargetSettings, 'name'>",
      schema: settingsOfPreview,
      summary: 'Settings that a new preview gets.',
    },
    previewAccess: {
      config: 'preview.access',
      schema: schemas.toggle,
      summary: 'Require an access header from visitors of previews.',
    },
  },
  /** What a target is to be like, for target:diff and target:apply. */
  target: {
    targetSettings: {
      config: 'settings',
      type: 'TargetSettings',
      schema: settingsOfTarget,
      perTarget: 'only',
      summary: 'Settings of the target.',
    },
    redirects: {
      type: 'string | readonly Redirect[]',
      schema: redirects,
      syntax: 'path',
      perTarget: 'only',
      summary: 'Redirects of the target, or a file with them: JSON, CSV or _redirects.',
    },
    access: {
      schema: schemas.toggle,
      perTarget: 'only',
      summary: 'Require an access header from visitors of the target.',
    },
    primary: {schema: schemas.toggle, perTarget: 'only', summary: 'Make the target the primary one of its project.'},
    prune: {
      flag: {name: 'prune'},
      ...off,
      perTarget: 'only',
      summary: 'Remove redirects that the configuration does not name.',
    },
  },
  events: {
    events: {
      flag: {name: 'events', value: 'FILE|-'},
      config: false,
      schema: schemas.nonEmpty,
      summary: 'Write events to a file, as lines of JSON.',
      details: 'Each step, progress, wait and the outcome; - is stdout.',
    },
  },
  /** What must hold before something is deployed to a target. */
  guard: {
    guardCleanTree: {
      config: 'guard.cleanTree',
      ...toggleOfTarget,
      summary: 'Refuse to deploy what was built with uncommitted changes.',
      notes: 'For a push of the work tree, files that git neither tracks nor ignores count, too.',
    },
    guardBranch: {
      config: 'guard.branch',
      schema: schemas.someItems,
      perTarget: true,
      summary: 'Only deploy what was built on a branch that these patterns match.',
      notes: '`!` excludes.',
    },
    guardOrigin: {
      config: 'guard.origin',
      schema: schemas.nonEmpty,
      syntax: 'url',
      perTarget: true,
      summary: 'Only deploy from a clone of this git repository.',
      notes: 'Compared with its remote `origin`, whatever the protocol.',
    },
    guardNotOlder: {
      config: 'guard.notOlder',
      ...toggleOfTarget,
      summary: 'Refuse to deploy a commit that does not contain the one that the target runs.',
    },
    guardCiOnly: {
      config: 'guard.ciOnly',
      ...toggleOfTarget,
      summary: 'Refuse to deploy from anywhere but CI.',
    },
    guardConfirm: {
      config: 'guard.confirm',
      ...toggleOfTarget,
      summary: 'Ask a person to type the name of the target before deploying.',
      notes: 'In the library, `confirmTarget` asks.',
    },
    production: {
      ...toggleOfTarget,
      summary: 'Treat the target as production, whatever its name (for MYCLI_SAFETY and target:delete).',
      notes: 'False has no effect.',
    },
    variables: {
      schema: schemas.list,
      perTarget: true,
      summary: 'Names of the environment variables that the target must have; default: those in .env.example.',
    },
  },
} as const satisfies Readonly<Record<string, SettingRows>>;
