import {exitCodeMeanings} from '../../errors/index.js';

/** Names with what they are. */
type NameList = readonly (readonly [name: string, meaning: string])[];

/** A part of a page: prose, or a list, which may have to be loaded. */
export interface HelpSection {
  readonly title: string;
  readonly body: string | NameList | (() => Promise<NameList>);
}

/** A page of help that is about no single command. */
export interface HelpPage {
  readonly summary: string;
  readonly sections: readonly HelpSection[];
}

// Help of anything else needs no setting.
async function listSettings(): Promise<NameList> {
  const {definitions, settingKeys, variableOf} = await import('../settings/definitions.js');
  return settingKeys.map((key) => {
    const {flag, config} = definitions[key];
    const names = [variableOf(key) ?? [], config ?? []].flat().join(', ');
    return flag === undefined ? [names, 'in the configuration file only'] : [`--${flag.name}`, names];
  });
}

/** The pages, by what stands after `mycli help`. Some are named like a topic or a command, whose help comes first. */
export const helpPages: Readonly<Record<string, HelpPage>> = {
  config: {
    summary: 'Where settings come from: flags, environment, configuration file, stored credentials.',
    sections: [
      {
        title: 'WHERE SETTINGS COME FROM',
        body:
          'A setting is taken from the first that has it: flag, environment variable, configuration file, stored ' +
          'credentials, default. An empty variable counts as unset. mycli config:show shows every setting with its source.',
      },
      {
        title: 'CONFIGURATION FILE',
        body:
          'mycli.config.ts, .mts, .js, .mjs or .json, or the key "mycli" of package.json: found from the working folder up ' +
          "to the repository's root, without a repository in the working folder only. --config FILE names one. Paths in it " +
          'start from its folder. Secrets do not belong there.',
      },
      {
        title: 'SECRETS',
        body:
          '--api-key, --client-secret and --api-token take @FILE, or - for stdin; better are their variables, or mycli ' +
          'auth:login. MYCLI_TRUSTED_ORIGINS, a list with commas, lets credentials go to these origins only.',
      },
      {title: 'FLAGS, THEIR VARIABLES, KEYS OF THE CONFIGURATION FILE', body: listSettings},
    ],
  },
  'exit-codes': {
    summary: 'What the exit codes mean.',
    sections: [
      {title: 'EXIT CODES', body: exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const)},
      {
        title: 'WHICH ONE',
        body:
          'An answer of the server decides: 4, 5 or 7. Without an answer it is 6 before the last byte of the request was ' +
          'sent, 10 after it. With --json the document has the exit code too, and a code that says more.',
      },
    ],
  },
  plugins: {
    summary: 'How plugins bring backends.',
    sections: [
      {
        title: 'BACKENDS FROM PLUGINS',
        body:
          'A plugin brings a backend, a service that takes bundles. Install it for yourself with mycli plugins:install, or ' +
          'put a package named mycli-plugin-... beside mycli into the dependencies of a project. mycli backend:list shows ' +
          'each backend, the plugin that it is from, and what it still needs.',
      },
      {
        title: 'SETTINGS OF A PLUGIN',
        body:
          '--runtime-backend NAME chooses the backend. Its options are --backend-option key=value, MYCLI_BACKEND_OPTION, or ' +
          'backends.NAME of the configuration file.',
      },
      {
        title: 'TRUST',
        body:
          'A plugin is code that runs with your rights and sees your credentials. MYCLI_SKIP_PLUGINS=1 runs without any: ' +
          'where nobody has reviewed what is run, or when one is in the way.',
      },
    ],
  },
};
