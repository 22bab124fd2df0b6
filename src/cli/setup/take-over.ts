import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {isBuiltIn, mayUse} from '../../backends/names.js';
import {
  amendError,
  createError,
  isRuntimeCliError,
  reasonOf,
  type RuntimeCliError,
  type Suggestion,
} from '../../errors/index.js';
import {foreignOwner} from '../../files/ownership.js';
import {exists, readJsonFile} from '../../files/read-file.js';
import {shownAddress} from '../../http/origin.js';
import {plainName} from '../../http/redact.js';
import {definitions, problemsOf, rejectProblems} from '../../settings/definitions.js';
import {asRecord, isRecord} from '../../text/json.js';
import {asSentence} from '../../text/sentence.js';
import {onWindows} from '../../text/platform.js';
import {shellLine} from '../../text/suggest.js';
import type {CommandContext} from '../command/command-context.js';
import {serviceUrl} from '../settings/connection-options.js';
import {credentialEntries, credentialRows, readCredentials} from '../settings/credential-file.js';
import {originOf} from '../settings/load-settings.js';
import {describeSettings, sourceName, type Settings, type ValueSource} from '../settings/settings.js';
import {pathFrom, Secret} from '../settings/text.js';
import {
  credentialsFileVariable,
  defaultHost,
  deploymentScope,
  oldSettings,
  tenant,
  type OldKey,
} from './other-clients.js';
import {askYesNo} from './prompts.js';

const projectFile = 'dw.json';
const isName = (key: OldKey) => key === 'projectSlug' || key === 'targetSlug';
const isAddress = (key: OldKey) => key === 'origin' || key === 'apiOrigin' || key === 'tokenUrl';
const isLegacy = (key: OldKey) => key === 'origin' || key === 'apiKey' || key === 'apiUser';

/** A credential is not taken from a source that has another value than the one in use for what it belongs to. */
const belongsTo: {readonly [K in OldKey]?: readonly OldKey[]} = {
  apiKey: ['origin'],
  apiUser: ['origin', 'apiKey'],
  clientSecret: ['clientId', 'tokenUrl'],
};

interface OldValue {
  readonly key: OldKey;
  readonly value: string | readonly string[] | Secret;
  readonly source: ValueSource;
  /** Whether it is what the other client uses when nothing is set. */
  readonly isStandard?: boolean;
}

interface OldSource {
  /** `the environment`, `dw.json (staging)`, `~/.mobify`. */
  readonly name: string;
  readonly values: OldValue[];
}

/** What is taken over: what the user agrees to, source by source; all of it; or only the project and the target. */
export type ImportMode = 'ask' | 'all' | 'names';

/**
 * Completes the settings with what other clients have stored: each source is named, and what it has is shown. What
 * flags, variables and the configuration of mycli set stays. Credentials of files are only read if they may be taken.
 */
export async function takeOver(context: CommandContext, settings: Settings, mode: ImportMode): Promise<Settings> {
  const {output, cwd} = context;
  let current = settings;
  const skipped: OldValue[] = [];
  for (const oldSource of await projectSources(context, current, mode)) await take(oldSource);
  const keyFiles = await credentialFiles(context);
  if (mode !== 'names') {
    for (const file of keyFiles) await take(await fromCredentialFile(context, file, current));
    return current;
  }
  const names = [
    ...skipped.map(({key, value, source}) => {
      return `${definitions[key].label}${isAddress(key) ? ` ${shown(value)}` : ''} (${source.name})`;
    }),
    ...keyFiles.map(({name, host}) => (host === undefined ? name : `${name} (API key for https://${host})`)),
  ];
  if (names.length > 0) output.info(`Not imported: ${names.join(', ')}. To import everything, pass --import.`);
  return withoutOtherLogin(context, current, skipped);

  async function take({name, values}: OldSource): Promise<void> {
    const {value: backend} = current.runtimeBackend;
    const usable = values.filter(({key}) => isName(key) || mayUse(backend, isLegacy(key) ? 'legacy' : 'api'));
    const {additions, conflicts} = compare(current, usable, cwd);
    const accepted = mode === 'names' ? additions.filter(({key}) => isName(key)) : additions;
    skipped.push(...additions.filter((one) => !accepted.includes(one)));
    if (accepted.length + conflicts.length === 0) return;
    const tell = (line: string) => (mode === 'ask' ? output.subject.result(line) : output.info(line));
    tell(`Found settings of another client in ${name}:`);
    const keys = accepted.map(({key}) => key);
    const added = Object.fromEntries<unknown>(
      accepted.map(({key, value, source}) => [key, {value, source}]),
    ) as Partial<Settings>;
    for (const line of [...describeSettings({...current, ...added}, keys, cwd), ...conflicts]) tell(`  ${line}`);
    if (accepted.length === 0) return;
    if (mode !== 'ask' || (await askYesNo(`Use what ${name} has?`, true, context))) current = {...current, ...added};
  }
}

/** What can be taken, and what differs from what is used. */
function compare(current: Settings, values: readonly OldValue[], cwd: string) {
  const additions: OldValue[] = [];
  const conflicts: string[] = [];
  const others = new Set<OldKey>();
  for (const one of values) {
    const {key} = one;
    const setting = ownSetting(current, key);
    const used = setting ?? additions.find((other) => other.key === key);
    if (used === undefined) {
      additions.push(one);
      continue;
    }
    if (comparable(key, used.value) === comparable(key, one.value)) continue;
    if (setting !== undefined) others.add(key);
    const [theirs, ours] = [one, used].map(({value, source}) => `${shown(value)} (${sourceName(source, cwd)})`);
    conflicts.push(`Conflict: ${definitions[key].label} ${theirs} differs from ${ours}, which is used.`);
  }
  return {additions: additions.filter(({key}) => !belongsTo[key]?.some((other) => others.has(other))), conflicts};
}

/** The settings without the service of the last login, if the project is for another one that is not taken over. */
function withoutOtherLogin({output}: CommandContext, current: Settings, skipped: readonly OldValue[]): Settings {
  const last = [current.origin, current.apiOrigin].find((setting) => setting?.source.kind === 'stored');
  const other = skipped.find(({key, value, isStandard}) => {
    if ((key !== 'origin' && key !== 'apiOrigin') || isStandard) return false;
    return current[key] === undefined || comparable(key, current[key].value) !== comparable(key, value);
  });
  if (last === undefined || other === undefined) return current;
  const theirs = `${other.source.name} is for ${shown(other.value)}`;
  output.info(`The last login, to ${shownAddress(last.value)}, is not used: ${theirs}.`);
  const own = Object.entries(current).filter(([, setting]) => setting?.source.kind !== 'stored');
  return Object.fromEntries<unknown>(own) as Settings;
}

/** A setting that mycli itself has been given, or that was taken over. */
function ownSetting<Key extends OldKey>(settings: Settings, key: Key): Settings[Key] | undefined {
  const {[key]: setting} = settings;
  return setting === undefined || ['stored', 'default'].includes(setting.source.kind) ? undefined : setting;
}

function comparable(key: OldKey, value: OldValue['value']): string {
  if (value instanceof Secret) return value.reveal();
  const text = String(value);
  return isAddress(key) ? (originOf({value: text, source: {kind: 'default', name: key}}) ?? text) : text;
}

function shown(value: OldValue['value']): string {
  return typeof value === 'string' || value instanceof Secret ? String(value) : value.join(' ');
}

interface OldText {
  readonly key: OldKey;
  readonly text: unknown;
  readonly source: ValueSource;
}

async function projectSources(
  context: CommandContext,
  current: Settings,
  mode: ImportMode,
): Promise<readonly OldSource[]> {
  const {cwd, output} = context;
  const fieldsOf = (file: string, fields: Readonly<Record<string, unknown>>) =>
    oldSettings.flatMap(({key, field = ''}): readonly OldText[] => {
      // Somebody else's checkout may name any address, which is confirmed before a secret of the user goes there.
      const isOpen = mode === 'all' && ['mrtOrigin', 'accountManagerHost'].includes(field);
      const source: ValueSource = isOpen ? {kind: 'config', name: join(cwd, file)} : {kind: 'flag', name: file};
      const own = Object.entries(fields).filter(([key]) => field !== '' && plainName(key) === plainName(field));
      return own.map(([, text]) => ({key, text, source}));
    });
  const inManifest = await readOwn(context, 'package.json', join(cwd, 'package.json'), ({b2c}) =>
    fieldsOf('package.json', asRecord(b2c)),
  );
  let name = projectFile;
  const inProject = await readOwn(context, projectFile, join(cwd, projectFile), (content) => {
    const instance = activeInstance(content, output);
    if (typeof instance['name'] === 'string') name = `${projectFile} (${instance['name']})`;
    return fieldsOf(projectFile, instance);
  });
  const sources = [
    {name: 'the environment', values: inEnvironment(context)},
    {name, values: inProject},
    {name: 'package.json (b2c)', values: inManifest},
  ];
  addStandards(sources, current);
  return sources;
}

function inEnvironment(context: CommandContext): OldValue[] {
  const texts = oldSettings.flatMap(({key, variables}) =>
    variables.map((name) => ({key, text: context.env[name], source: {kind: 'flag', name} as const})),
  );
  return convert(context, texts);
}

/** Adds what other clients use when nothing sets it to the first oldSource that has what needs it. */
function addStandards(sources: readonly OldSource[], current: Settings): void {
  const sourceWith = (key: OldKey) => sources.find(({values}) => values.some((one) => one.key === key));
  for (const {key, variables, standard} of oldSettings) {
    if (standard === undefined || ownSetting(current, key) !== undefined || sourceWith(key) !== undefined) continue;
    const source = {kind: 'flag', name: `${String(variables[0])} is not set`} as const;
    sourceWith(standard.needs)?.values.push({key, value: standard.value, source, isStandard: true});
  }
}

/** The instance of dw.json that is active: one of `configs`, or else the object itself. */
function activeInstance({configs, ...own}: Readonly<Record<string, unknown>>, output: CommandContext['output']) {
  const instances = Array.isArray(configs) ? configs.filter(isRecord) : [];
  const active = instances.find((instance) => instance['active'] === true);
  if (instances.length > 0 && active === undefined) {
    const names = instances.map(({name}) => String(name)).join(', ');
    output.info(`No instance of ${projectFile} is active (${names}). Set "active": true in one of them.`);
  }
  return active ?? own;
}

/** The values of texts, converted. Warns of those that cannot be used. Secrets are masked from now on. */
function convert({output}: CommandContext, texts: readonly OldText[]): OldValue[] {
  const values = texts.flatMap(({key, text, source}): readonly OldValue[] => {
    const trimmed = (Array.isArray(text) ? text.join(' ') : typeof text === 'string' ? text : '').trim();
    if (trimmed === '') return [];
    if (key === 'scopes') return [{key, value: trimmed.split(/[\s,]+/), source}];
    const {schema, syntax} = definitions[key];
    const {shape, becomes} = oldSettings.find((row) => row.key === key) ?? {};
    if (syntax === 'secret') output.addSecrets([trimmed]);
    try {
      if (shape?.test(trimmed) === false) throw createError('ERR_OPTION_INVALID', `${source.name} is invalid.`);
      const value = becomes?.(trimmed) ?? trimmed;
      rejectProblems(problemsOf(source.name, value, schema));
      if (syntax === 'secret') return [{key, value: new Secret(value), source}];
      return [{key, value: isAddress(key) ? serviceUrl(key, source.name, value) : value, source}];
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      output.warn(`${error.message} It was not imported.`);
      return [];
    }
  });
  const organization = values.find(({key}) => key === 'organizationId');
  if (organization === undefined) return values;
  const scopes = values.find(({key}) => key === 'scopes')?.value ?? [];
  const id = tenant(shown(organization.value));
  const value = [...new Set([`SALESFORCE_COMMERCE_API:${id}`, deploymentScope, ...[scopes].flat().map(String)])];
  return [...values.filter(({key}) => key !== 'scopes'), {...organization, key: 'scopes', value}];
}

interface KeyFile {
  readonly name: string;
  readonly path: string;
  /** The host that its key is for. Absent: whatever the origin is. */
  readonly host?: string;
}

/** The files with keys in the user's home: `~/.mobify` and `~/.mobify--HOST`, and the one that a variable names. */
async function credentialFiles({env, cwd, config}: CommandContext): Promise<readonly KeyFile[]> {
  const named = env[credentialsFileVariable]?.trim() ?? '';
  const names = await readdir(config.home).catch((): string[] => []);
  const inHome = names.sort().flatMap((name): readonly KeyFile[] => {
    const [isOne, host = defaultHost] = /^\.mobify(?:--(.+))?$/.exec(name) ?? [];
    return isOne && URL.canParse(`https://${host}`) ? [{name: `~/${name}`, path: join(config.home, name), host}] : [];
  });
  if (named === '') return inHome;
  return [{name: `${credentialsFileVariable} (${named})`, path: pathFrom(cwd, named)}, ...inHome];
}

async function fromCredentialFile(context: CommandContext, file: KeyFile, current: Settings): Promise<OldSource> {
  const {name, path, host = defaultHost} = file;
  const origin = originOf(ownSetting(current, 'origin'));
  // Clients differ in whether the port is part of the name.
  const isMeant = origin === undefined || [new URL(origin).host, new URL(origin).hostname].includes(host);
  if (file.host !== undefined && !isMeant) {
    context.output.info(`${name} is for ${host}, so it was not imported.`);
    return {name, values: []};
  }
  const source = {kind: 'flag', name} as const;
  const values = await readOwn(context, name, path, ({api_key: key, username: user}) => [
    {key: 'apiKey', text: key, source},
    {key: 'apiUser', text: user, source},
    ...(origin === undefined ? [{key: 'origin', text: `https://${host}`, source} as const] : []),
  ]);
  return {name, values: values.some((one) => one.key === 'apiKey') ? values : []};
}

/** What a JSON file has, unless it belongs to another user. Warns of secrets in it that others can read. */
async function readOwn(
  context: CommandContext,
  name: string,
  path: string,
  textsIn: (content: Readonly<Record<string, unknown>>) => readonly OldText[],
): Promise<OldValue[]> {
  const {output} = context;
  if (!(await exists(path))) return [];
  const owner = foreignOwner(path);
  if (owner !== undefined) {
    output.warn(`${name} belongs to another user (${String(owner)}), so it is not read.`);
    return [];
  }
  let content: unknown;
  try {
    content = await readJsonFile(path);
  } catch (error) {
    // What a parser says may repeat a secret.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : reasonOf(error);
    output.warn(asSentence(`${name} was not imported: ${reason}`));
    return [];
  }
  const values = convert(context, textsIn(asRecord(content)));
  const secret = values.find(({value}) => value instanceof Secret);
  if (secret !== undefined && !onWindows && ((await stat(path)).mode & 0o077) !== 0) {
    const {label} = definitions[secret.key];
    output.warn(`Other users can read ${name}, which has the ${label}. Run: ${shellLine('chmod', '600', path)}`);
  }
  return values;
}

const credentialCodes: readonly unknown[] = ['ERR_CREDENTIALS_MISSING', 'ERR_ORIGIN_MISSING'];

/** Adds to an error about missing credentials where others are: in logins, or stored by another client. */
export async function withOtherCredentials(error: RuntimeCliError, context: CommandContext): Promise<RuntimeCliError> {
  const {backend = 'legacy', missing}: Readonly<Record<string, unknown>> = error.details ?? {};
  const codes = Array.isArray(missing) ? missing.map((one) => asRecord(one)['code']) : [];
  if (!isBuiltIn(String(backend)) || ![error.code, ...codes].some((code) => credentialCodes.includes(code)))
    return error;
  const logins = missing === undefined ? [] : await suggestLogins(context);
  return amendError(error, {suggestions: [...logins, ...(await suggestTakeover(context))]});
}

/** Names the stored logins that the command could use, but that are for other origins. */
async function suggestLogins({settings, credentialFile}: CommandContext): Promise<readonly Suggestion[]> {
  if (settings === undefined) return [];
  const {runtimeBackend, origin, apiOrigin} = settings;
  const used = [originOf(origin), originOf(apiOrigin)];
  // What is wrong with the file is not what failed.
  const stored = await readCredentials(credentialFile).catch(() => ({origins: {}}));
  const flags = credentialEntries(stored).flatMap(({kind, origin: other}) => {
    const {backend, setting, addresses} = credentialRows[kind];
    const isUsable = mayUse(runtimeBackend.value, backend) && settings[setting] === undefined && !used.includes(other);
    return isUsable ? [`--${String(definitions[addresses[0]].flag?.name)} ${other}`] : [];
  });
  if (flags.length === 0) return [];
  return [`Your login is for another origin: pass ${new Intl.ListFormat('en', {type: 'disjunction'}).format(flags)}.`];
}

/** What another client has stored. Its files are not read. */
async function suggestTakeover(context: CommandContext): Promise<readonly Suggestion[]> {
  const {cwd, configFile} = context;
  const inProject = (await exists(join(cwd, projectFile))) ? [projectFile] : [];
  const variables = inEnvironment(context).map(({source}) => source.name);
  const files = (await credentialFiles(context)).map(({name}) => name);
  const found = [...new Set([...variables, ...files, ...inProject])];
  if (found.length === 0) return [];
  const what = `Found ${new Intl.ListFormat('en').format(found)} of another client. To use it, run: `;
  return [[what, {run: [configFile === undefined ? 'init' : 'auth:login', '--import']}]];
}
