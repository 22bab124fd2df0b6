import type {Readable} from 'node:stream';
import type {Environment} from '../../http/types.js';
import {loadConfigFile} from './config-file.js';
import type {CredentialFile} from '../credentials/credential-file.js';
import {withStoredCredentials} from '../credentials/stored-settings.js';
import {readDependencies} from './read-dependencies.js';
import {readSecrets} from './read-secrets.js';
import {resolveSettings, type FlagValues} from './resolve-settings.js';
import {secretKeys} from './definitions.js';
import type {Settings} from './settings.js';

/** What the settings of a command are loaded from. */
export interface SettingsOrigin {
  readonly flags: FlagValues;
  readonly env: Environment;
  /** Absolute. */
  readonly cwd: string;
  /** Configuration file that the user named. */
  readonly configFile: string | undefined;
  readonly uid: number | undefined;
  readonly stdin: Readable;
  /** Where credentials are stored; without it none are looked for. */
  readonly credentialFile?: CredentialFile | undefined;
  readonly warn: (message: string) => void;
}

/**
 * Finds and reads the configuration file, resolves every setting, and reads secrets and what else is in files. Credentials
 * that are stored for the resolved origins come after all of these.
 * @throws RuntimeCliError of usage or input.
 */
export async function loadSettings(origin: SettingsOrigin): Promise<Settings> {
  const {flags, env, cwd, warn} = origin;
  const config = await loadConfigFile({cwd, uid: origin.uid, warn}, origin.configFile);
  const unread = resolveSettings({flags, env, cwd, config: config?.settings, configPath: config?.path});
  const {dependencies} = unread;
  const settings = {
    ...unread,
    ...(await readSecrets(unread, {cwd, stdin: origin.stdin, warn})),
    dependencies: dependencies && (await readDependencies(dependencies, cwd)),
  };
  return origin.credentialFile === undefined ? settings : withStoredCredentials(settings, origin.credentialFile);
}

/** Every secret among the settings, as it is. */
export function secretValues(settings: Settings): readonly string[] {
  return secretKeys.flatMap((key) => settings[key]?.value.reveal() ?? []);
}
