import type {Readable} from 'node:stream';
import type {Backend} from '../../backends/contract.js';
import {OptionText} from '../../backends/option-text.js';
import {qualifiedName} from '../../backends/select.js';
import {createError} from '../../errors/index.js';
import type {CredentialFile} from '../credentials/credential-file.js';
import type {Output} from '../output/output.js';
import {definitions, secretKeys, variableOf, type SettingValue} from '../settings/definitions.js';
import {readFlagSecret} from '../settings/load-settings.js';
import type {FlagValues} from '../settings/resolve-settings.js';
import type {Settings} from '../settings/settings.js';

const flag = '--backend-option';

/** A backend, and the plugin that it comes from. */
interface PluginBackend {
  /** Its name among all backends. */
  readonly name: string;
  readonly plugin: string;
  readonly backend: Pick<Backend, 'name' | 'secrets'>;
}

/** What the options of a plugin's backend come from. */
interface PluginOptionSources {
  readonly context: {
    readonly cwd: string;
    readonly stdin: Readable;
    readonly output: Pick<Output, 'warn' | 'addSecrets'>;
    /** Where credentials are stored. Without it, stored ones are ignored. */
    readonly credentialFile?: CredentialFile | undefined;
  };
  readonly settings: Pick<Settings, 'runtimeBackend' | 'backendOptions'>;
  readonly flags: FlagValues & {readonly 'backend-option'?: readonly string[] | undefined};
}

/**
 * The options of a backend. On the command line, the value of a secret one is the literal text, `@FILE`, or `-` for
 * stdin, as for the host's own secrets. Other options may start with `@` or be `-`, and are left alone. Secrets that
 * `auth:login` stored have the lowest precedence. Masks what it reads.
 * @throws RuntimeCliError `ERR_USAGE` when two secrets use stdin, `ERR_OPTION_INVALID` when one is empty or unreadable.
 */
export async function readPluginOptions(
  registration: PluginBackend,
  {context, settings, flags}: PluginOptionSources,
): Promise<SettingValue<'backendOptions'>[string]> {
  const {name, plugin, backend} = registration;
  const {secrets = []} = backend;
  const given = optionsFor(registration, settings);
  const stored = await storedTexts(name, secrets, given, context);
  const isNamed = [backend.name, qualifiedName(plugin, backend.name)].includes(settings.runtimeBackend.value);
  return {...stored, ...given, ...(isNamed ? await readFlagSecrets(secrets, given, context, flags) : {})};
}

/** What `auth:login` has stored, as the lowest source. */
async function storedTexts(
  name: string,
  secrets: readonly string[],
  given: Readonly<Record<string, unknown>>,
  {output, credentialFile}: PluginOptionSources['context'],
): Promise<Readonly<Record<string, OptionText>>> {
  if (credentialFile === undefined || secrets.length === 0) return {};
  const {storedOptions} = await import('../credentials/backend-login.js');
  const stored = Object.entries((await storedOptions(name, given, credentialFile)) ?? {});
  output.addSecrets(stored.map(([, value]) => value));
  return Object.fromEntries(stored.map(([option, value]) => [option, new OptionText(value)]));
}

async function readFlagSecrets(
  secrets: readonly string[],
  given: Readonly<Record<string, unknown>>,
  context: PluginOptionSources['context'],
  flags: PluginOptionSources['flags'],
): Promise<Readonly<Record<string, OptionText>>> {
  const read: Record<string, OptionText> = {};
  const named = new Set((flags['backend-option'] ?? []).map((pair) => pair.slice(0, pair.indexOf('=')).trim()));
  const texts = secrets.flatMap((secret) => {
    const value = given[secret];
    return named.has(secret) && value instanceof OptionText ? [{secret, text: value.text}] : [];
  });
  refuseSharedStdin(
    texts.filter(({text}) => text === '-').map(({secret}) => secret),
    flags,
  );
  warnOfLiterals(
    texts.filter(({text}) => text !== '-' && !text.startsWith('@')).map(({secret}) => secret),
    context.output,
  );
  for (const {secret, text} of texts) {
    const value = (await readFlagSecret(text, `${flag} ${secret}`, context)).trim();
    if (value === '') throw createError('ERR_OPTION_INVALID', `The value of ${flag} ${secret} is empty.`);
    context.output.addSecrets([value]);
    read[secret] = new OptionText(value);
  }
  return read;
}

/** What is set for a backend, by its name and by `plugin/name`. Under the name that was asked for, flags count too. */
export function optionsFor(
  registration: PluginBackend,
  {runtimeBackend, backendOptions: {value}}: PluginOptionSources['settings'],
): SettingValue<'backendOptions'>[string] {
  const {name} = registration.backend;
  const qualified = qualifiedName(registration.plugin, name);
  return runtimeBackend.value === name ? {...value[qualified], ...value[name]} : {...value[name], ...value[qualified]};
}

function refuseSharedStdin(options: readonly string[], flags: FlagValues): void {
  const others = secretKeys.map((key) => definitions[key].flag?.name ?? key).filter((name) => flags[name] === '-');
  const wanting = [...others.map((name) => `--${name}`), ...options.map((name) => `${flag} ${name}`)];
  if (options.length === 0 || wanting.length < 2) return;
  throw createError('ERR_USAGE', `${wanting.join(' and ')} cannot all be read from stdin.`, {
    suggestions: ['Pass all but one as @FILE, or in the environment.'],
  });
}

function warnOfLiterals(options: readonly string[], output: Pick<Output, 'warn'>): void {
  if (options.length === 0) return;
  output.warn(
    `Other users can see the value of ${flag} ${options.join(', ')} in the process list. ` +
      `Use ${String(variableOf('backendOptions'))}, @FILE or - (stdin) instead.`,
  );
}
