import {exitCodeMeanings} from '../../errors/index.js';

/** Names and their meanings. */
type NameList = readonly (readonly [name: string, meaning: string])[];

/** A section of a page: prose or a list, which can be loaded on demand. */
interface HelpSection {
  readonly title: string;
  readonly body: string | NameList | (() => Promise<NameList>);
}

/** A help page about a topic. */
export interface HelpPage {
  readonly summary: string;
  readonly sections: readonly HelpSection[];
}

// Loaded on demand, since other help needs no settings.
async function listSettings(): Promise<NameList> {
  const {definitions, settingKeys, variableOf} = await import('../../settings/definitions.js');
  return settingKeys.map((key) => {
    const {flag, config} = definitions[key];
    const names = [variableOf(key) ?? [], config ?? []].flat().join(', ');
    return flag === undefined ? [names, 'configuration file only'] : [`--${flag.name}`, names];
  });
}

/** The pages, by what follows `mycli help`. Commands and topics with the same name take precedence. */
export const helpPages: Readonly<Record<string, HelpPage>> = {
  config: {
    summary: 'Settings and their sources: flags, environment, configuration file, stored credentials.',
    sections: [
      {
        title: 'WHERE SETTINGS COME FROM',
        body:
          'Each setting comes from the first source that defines it: flag, environment variable, configuration file, stored ' +
          'credentials, default. An empty variable counts as unset, except that an empty Api variable is an error under auto: ' +
          'a secret may be missing. Run mycli config:show to see every setting and its source.',
      },
      {
        title: 'CONFIGURATION FILE',
        body:
          'mycli.config.ts, .mts, .js, .mjs or .json, or the key "mycli" in package.json. mycli looks in the working directory ' +
          'and its parents up to the repository root. Outside a repository, it only looks in the working directory. Pass ' +
          '--config FILE to use another file. Paths are relative to the file. Secrets are not allowed in it.',
      },
      {
        title: 'SECRETS',
        body:
          'Set secrets with environment variables or mycli auth:login. --api-key, --client-secret and --api-token also accept ' +
          '@FILE, or - for stdin. MYCLI_TRUSTED_ORIGINS, a comma-separated list, restricts which origins can receive credentials.',
      },
      {title: 'FLAGS, VARIABLES AND CONFIGURATION KEYS', body: listSettings},
    ],
  },
  'exit-codes': {
    summary: 'Exit codes and their meanings.',
    sections: [
      {title: 'EXIT CODES', body: exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const)},
      {
        title: 'HOW THE CODE IS CHOSEN',
        body:
          "The server's answer decides: 4, 5 or 7. Without an answer, the code is 6 if the request was not fully sent, and 10 " +
          'if it was. With --json, the document contains the exit code and a more specific error code.',
      },
    ],
  },
  plugins: {
    summary: 'Backends from plugins.',
    sections: [
      {
        title: 'BACKENDS FROM PLUGINS',
        body:
          'A plugin adds a backend, a service that accepts bundles. Install it for your user with mycli plugins:install, or ' +
          "add a package named mycli-plugin-... next to mycli in a project's dependencies. Run mycli backend:list to see each " +
          'backend, its plugin and any missing settings.',
      },
      {
        title: 'SETTINGS OF A PLUGIN',
        body:
          'Choose the backend with --runtime-backend NAME. Set its options with --backend-option key=value, ' +
          'MYCLI_BACKEND_OPTION or backends.NAME in the configuration file.',
      },
      {
        title: 'TRUST',
        body:
          'A plugin is code that runs with your permissions and can see your credentials. Set MYCLI_SKIP_PLUGINS=1 to run ' +
          'without plugins, for example where changes run unreviewed, or when a plugin causes trouble.',
      },
    ],
  },
};
