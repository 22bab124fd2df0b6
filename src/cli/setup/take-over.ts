import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {isBuiltIn, mayUse} from '../../backends/names.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import type {Suggestion} from '../../errors/suggestion.js';
import {reasonOf} from '../../errors/system-failure.js';
import {foreignOwner} from '../../files/ownership.js';
import {exists, readJsonFile} from '../../files/read-file.js';
import {shownAddress} from '../../http/origin.js';
import {plainName} from '../../http/redact.js';
import {definitions, problemSentence, problemsOf, secretKeys, variableOf} from '../../settings/definitions.js';
import {asRecord, isRecord} from '../../text/json.js';
import {asSentence} from '../../text/sentence.js';
import {shellLine} from '../../text/suggest.js';
import type {CommandContext} from '../command/context.js';
import {configIn} from '../settings/config-file.js';
import {serviceUrl} from '../settings/connection.js';
import {originOf} from '../settings/load-settings.js';
import {describeSettings, describeSource, type Settings, type ValueSource} from '../settings/settings.js';
import {pathFrom, Secret} from '../settings/text.js';
import {
  credentialsFileVariable,
  defaultHost,
  deploymentScope,
  oldSettings,
  tenant,
  type OldKey,
} from './other-clients.js';
import {askYesNo, canAsk} from './prompts.js';

const projectFile = 'dw.json';
const isName = (key: OldKey) => key === 'projectSlug' || key === 'targetSlug';
const isLegacy = (key: OldKey) => key === 'origin' || key === 'apiKey' || key === 'apiUser';

/** A credential is not taken from a source that has another value than the one in use for what it belongs to. */
const belongsTo: {readonly [K in OldKey]?: readonly OldKey[]} = {
  apiKey: ['origin'],
  apiUser: ['origin', 'apiKey'],
  clientSecret: ['clientId', 'tokenUrl'],
};

/** A value of another client's set-up, as the setting that it becomes. */
interface Found {
  readonly key: OldKey;
  readonly value: string | readonly string[] | Secret;
  readonly source: ValueSource;
  /** Whether it is what the other client uses when nothing is set. */
  readonly isStandard?: boolean;
}

/** What one source has. */
interface Finding {
  /** `the environment`, `dw.json (staging)`, `~/.mobify`. */
  readonly name: string;
  readonly found: Found[];
}

/** How what is found is taken over: after a question for each source, all of it, or only what names the project. */
export type Taking = 'asked' | 'all' | 'names';

/**
 * Completes the settings with what other clients have stored: each source is named, and what it has is shown. What
 * flags, variables and the configuration of mycli set stays. Credentials of files are only read if they may be taken.
 */
export async function takeOver(context: CommandContext, settings: Settings, taking: Taking): Promise<Settings> {
  const {output, cwd} = context;
  let known = settings;
  const left: Found[] = [];
  for (const finding of await projectFindings(context, known, taking)) await take(finding);
  const keyFiles = await credentialFiles(context);
  if (taking !== 'names') {
    for (const file of keyFiles) await take(await fromCredentialFile(context, file, known));
    return known;
  }
  const notTaken = [
    ...left.map(({key, value, source}) => {
      const {label, syntax} = definitions[key];
      return `${label}${syntax === 'url' ? ` ${shown(value)}` : ''} (${source.name})`;
    }),
    ...keyFiles.map(({name, host}) => (host === undefined ? name : `${name} (API key for https://${host})`)),
  ];
  if (notTaken.length > 0)
    output.info(`Not taken over: ${notTaken.join(', ')}. To take over everything, pass --import.`);
  return withoutOtherLogin(context, known, left);

  async function take({name, found}: Finding): Promise<void> {
    const {value: backend} = known.runtimeBackend;
    const usable = found.filter(({key}) => isName(key) || mayUse(backend, isLegacy(key) ? 'legacy' : 'api'));
    const {taken, conflicts} = compare(known, usable, cwd);
    const wanted = taking === 'names' ? taken.filter(({key}) => isName(key)) : taken;
    left.push(...taken.filter((one) => !wanted.includes(one)));
    if (wanted.length + conflicts.length === 0) return;
    output.info(`Found settings of another client in ${name}:`);
    const keys = wanted.map(({key}) => key);
    const added = Object.fromEntries<unknown>(
      wanted.map(({key, value, source}) => [key, {value, source}]),
    ) as Partial<Settings>;
    for (const line of [...describeSettings({...known, ...added}, keys, cwd), ...conflicts]) output.info(`  ${line}`);
    if (wanted.length === 0) return;
    if (taking !== 'asked' || (await askYesNo(`Use what ${name} has?`, true, context))) known = {...known, ...added};
  }
}

/** What can be taken, and what differs from what is used. */
function compare(known: Settings, found: readonly Found[], cwd: string) {
  const taken: Found[] = [];
  const conflicts: string[] = [];
  const others = new Set<OldKey>();
  for (const one of found) {
    const {key} = one;
    const setting = ownSetting(known, key);
    const used = setting ?? taken.find((other) => other.key === key);
    if (used === undefined) {
      taken.push(one);
      continue;
    }
    if (comparable(key, used.value) === comparable(key, one.value)) continue;
    if (setting !== undefined) others.add(key);
    const [theirs, ours] = [one, used].map(({value, source}) => `${shown(value)} (${describeSource(source, cwd)})`);
    conflicts.push(`Conflict: ${definitions[key].label} ${theirs} differs from ${ours}, which is used.`);
  }
  return {taken: taken.filter(({key}) => !belongsTo[key]?.some((other) => others.has(other))), conflicts};
}

/** The settings without the service of the last login, if the project is for another one that is not taken over. */
function withoutOtherLogin({output}: CommandContext, known: Settings, left: readonly Found[]): Settings {
  const last = [known.origin, known.apiOrigin].find((setting) => setting?.source.kind === 'stored');
  const other = left.find(({key, value, isStandard}) => {
    if ((key !== 'origin' && key !== 'apiOrigin') || isStandard) return false;
    return known[key] === undefined || comparable(key, known[key].value) !== comparable(key, value);
  });
  if (last === undefined || other === undefined) return known;
  const theirs = `${other.source.name} is for ${shown(other.value)}`;
  output.info(`The last login, to ${shownAddress(last.value)}, is not used: ${theirs}.`);
  const own = Object.entries(known).filter(([, setting]) => setting?.source.kind !== 'stored');
  return Object.fromEntries<unknown>(own) as Settings;
}

/** A setting that mycli itself has been given, or that was taken over. */
function ownSetting<Key extends OldKey>(settings: Settings, key: Key): Settings[Key] | undefined {
  const {[key]: setting} = settings;
  return setting === undefined || ['stored', 'default'].includes(setting.source.kind) ? undefined : setting;
}

function comparable(key: OldKey, value: Found['value']): string {
  if (value instanceof Secret) return value.reveal();
  const text = String(value);
  const isAddress = definitions[key].syntax === 'url';
  return isAddress ? (originOf({value: text, source: {kind: 'default', name: key}}) ?? text) : text;
}

function shown(value: Found['value']): string {
  return typeof value === 'string' || value instanceof Secret ? String(value) : value.join(' ');
}

interface OldText {
  readonly key: OldKey;
  readonly text: unknown;
  readonly source: ValueSource;
}

/** What the environment and the files of the project have. */
async function projectFindings(context: CommandContext, known: Settings, taking: Taking): Promise<readonly Finding[]> {
  const {cwd, output} = context;
  const {b2c, mobify} = asRecord(await readOwn(join(cwd, 'package.json'), 'package.json', context));
  if (isRecord(mobify)) {
    output.info('Each push of a PWA Kit build reads "mobify" of package.json. There is nothing to take over from it.');
  }
  const {name, values} = activeInstance(await readOwn(join(cwd, projectFile), projectFile, context), output);
  const inFile = (file: string, fields: Readonly<Record<string, unknown>>) =>
    oldSettings.flatMap(({key, field = ''}): readonly OldText[] => {
      // Somebody else's checkout may name any address, which is confirmed before a secret of the user goes there.
      const isOpen = taking === 'all' && ['mrtOrigin', 'accountManagerHost'].includes(field);
      const source: ValueSource = isOpen ? {kind: 'config', name: join(cwd, file)} : {kind: 'flag', name: file};
      const own = Object.entries(fields).filter(([written]) => field !== '' && plainName(written) === plainName(field));
      return own.map(([, text]) => ({key, text, source}));
    });
  const inProject = foundIn(context, inFile(projectFile, values));
  await warnOfReaders(join(cwd, projectFile), projectFile, inProject, context);
  const findings = [
    {name: 'the environment', found: inEnvironment(context)},
    {name, found: inProject},
    {name: 'package.json (b2c)', found: foundIn(context, inFile('package.json', asRecord(b2c)))},
  ];
  addStandards(findings, known);
  return findings;
}

function inEnvironment(context: CommandContext): Found[] {
  const texts = oldSettings.flatMap(({key, variables}) =>
    variables.map((name) => ({key, text: context.env[name], source: {kind: 'flag', name} as const})),
  );
  return foundIn(context, texts);
}

/** Adds what other clients use when nothing sets it to the first finding that has what needs it. */
function addStandards(findings: readonly Finding[], known: Settings): void {
  const findingWith = (key: OldKey) => findings.find(({found}) => found.some((one) => one.key === key));
  for (const {key, variables, standard} of oldSettings) {
    if (standard === undefined || ownSetting(known, key) !== undefined || findingWith(key) !== undefined) continue;
    const source = {kind: 'flag', name: `${String(variables[0])} is not set`} as const;
    findingWith(standard.needs)?.found.push({key, value: standard.value, source, isStandard: true});
  }
}

/** The instance of dw.json that is active: one of `configs`, or else the object itself. */
function activeInstance(file: unknown, output: CommandContext['output']) {
  const {configs, ...own} = asRecord(file);
  const instances = Array.isArray(configs) ? configs.filter(isRecord) : [];
  const active = instances.find((instance) => instance['active'] === true);
  const values = active ?? own;
  const names = instances.map(({name}) => String(name)).join(', ');
  if (instances.length > 0 && active === undefined) {
    output.info(`No instance of ${projectFile} is active (${names}). Set "active": true in the one that is meant.`);
  }
  return {name: typeof values['name'] === 'string' ? `${projectFile} (${values['name']})` : projectFile, values};
}

/** The values of texts, converted. Warns of those that cannot be used. Secrets are masked from now on. */
function foundIn({output}: CommandContext, texts: readonly OldText[]): Found[] {
  const isSecret = (key: string) => secretKeys.some((secret) => secret === key);
  const found = texts.flatMap(({key, text, source}): readonly Found[] => {
    const written = (Array.isArray(text) ? text.join(' ') : typeof text === 'string' ? text : '').trim();
    if (written === '') return [];
    const {shape, becomes} = oldSettings.find((row) => row.key === key) ?? {};
    if (isSecret(key)) output.addSecrets([written]);
    try {
      if (shape?.test(written) === false) throw createError('ERR_OPTION_INVALID', `${source.name} is invalid.`);
      if (key === 'scopes') return [{key, value: written.split(/[\s,]+/), source}];
      const value = valueOf(key, becomes?.(written) ?? written, source.name);
      return [{key, value: isSecret(key) ? new Secret(value) : value, source}];
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      output.warn(`${error.message} It is not taken over.`);
      return [];
    }
  });
  const organization = found.find(({key}) => key === 'organizationId');
  if (organization === undefined) return found;
  const scopes = found.find(({key}) => key === 'scopes')?.value ?? [];
  const id = tenant(shown(organization.value));
  const value = [...new Set([`SALESFORCE_COMMERCE_API:${id}`, deploymentScope, ...[scopes].flat().map(String)])];
  return [...found.filter(({key}) => key !== 'scopes'), {...organization, key: 'scopes', value}];
}

function valueOf(key: OldKey, text: string, name: string): string {
  if (key === 'origin' || key === 'apiOrigin' || key === 'tokenUrl') return serviceUrl(key, name, text);
  const problems = problemsOf(name, text, definitions[key].schema);
  if (problems.length > 0) throw createError('ERR_OPTION_INVALID', problemSentence(problems));
  return text;
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
    const [, host = defaultHost] = /^\.mobify(?:--(.+))?$/.exec(name) ?? [];
    const isOne = /^\.mobify(?:$|--)/.test(name) && URL.canParse(`https://${host}`);
    return isOne ? [{name: `~/${name}`, path: join(config.home, name), host}] : [];
  });
  if (named === '') return inHome;
  return [{name: `${credentialsFileVariable} (${named})`, path: pathFrom(cwd, named)}, ...inHome];
}

async function fromCredentialFile(context: CommandContext, file: KeyFile, known: Settings): Promise<Finding> {
  const {name, path, host = defaultHost} = file;
  const origin = ownSetting(known, 'origin');
  const url = originOf(origin) ?? '';
  // Clients differ in whether the port is part of the name.
  const isMeant = URL.canParse(url) && [new URL(url).host, new URL(url).hostname].includes(host);
  if (origin !== undefined && file.host !== undefined && !isMeant) {
    context.output.info(`${name} is for ${host}, so it is not taken over.`);
    return {name, found: []};
  }
  const {api_key: key, username: user} = asRecord(await readOwn(path, name, context));
  const source = {kind: 'flag', name} as const;
  const found = foundIn(context, [
    {key: 'apiKey', text: key, source},
    {key: 'apiUser', text: user, source},
    ...(origin === undefined ? [{key: 'origin', text: `https://${host}`, source} as const] : []),
  ]);
  await warnOfReaders(path, name, found, context);
  return {name, found: found.some((one) => one.key === 'apiKey') ? found : []};
}

/** Reads a JSON file, unless it belongs to another user. */
async function readOwn(path: string, name: string, {output}: CommandContext): Promise<unknown> {
  if (!(await exists(path))) return undefined;
  const owner = foreignOwner(path);
  if (owner !== undefined) {
    output.warn(`${name} belongs to another user (${String(owner)}), so it is not read.`);
    return undefined;
  }
  try {
    return await readJsonFile(path);
  } catch (error) {
    // What a parser says may repeat a secret.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : reasonOf(error);
    output.warn(asSentence(`${name} is not taken over: ${reason}`));
    return undefined;
  }
}

async function warnOfReaders(path: string, name: string, found: readonly Found[], {output}: CommandContext) {
  const secret = found.find(({value}) => value instanceof Secret);
  if (secret === undefined || process.platform === 'win32' || ((await stat(path)).mode & 0o077) === 0) return;
  const {label} = definitions[secret.key];
  output.warn(`Other users can read ${name}, which has the ${label}. Run: ${shellLine('chmod', '600', path)}`);
}

const credentialCodes: readonly unknown[] = ['ERR_CREDENTIALS_MISSING', 'ERR_ORIGIN_MISSING'];

/** Adds to an error about missing credentials what another client has stored. Its files are not read. */
export async function withOldSettings(error: RuntimeCliError, context: CommandContext): Promise<RuntimeCliError> {
  const {backend = 'legacy', missing}: Readonly<Record<string, unknown>> = error.details ?? {};
  const codes = Array.isArray(missing) ? missing.map((one) => asRecord(one)['code']) : [];
  if (!isBuiltIn(String(backend)) || ![error.code, ...codes].some((code) => credentialCodes.includes(code)))
    return error;
  return amendError(error, {suggestions: await suggestTakeover(context)});
}

async function suggestTakeover(context: CommandContext): Promise<readonly Suggestion[]> {
  const {cwd} = context;
  const asks = canAsk(context);
  const variables = inEnvironment(context);
  const inProject = (await exists(join(cwd, projectFile))) ? [projectFile] : [];
  const files = [...(await credentialFiles(context)).map(({name}) => name), ...inProject];
  const facts = [
    ...(asks ? variables.map(({source: {name}}) => `${name} is set`) : []),
    ...files.map((name) => `${name} exists`),
  ];
  const isSetUp = context.configFile !== undefined || (await configIn(cwd)) !== undefined;
  const run = [isSetUp ? 'auth:login' : 'init', ...(isSetUp || !asks ? ['--import'] : [])];
  const list = new Intl.ListFormat('en');
  return [
    ...(asks ? [] : renamed(variables, context.settings)),
    ...(facts.length === 0 ? [] : [[`${list.format(facts)}: run `, {run}, ' to use it.']]),
  ];
}

/** What the variables of another client are called here, for a job that nobody can answer questions of. */
function renamed(variables: Found[], settings: Settings | undefined): readonly Suggestion[] {
  if (!variables.some(({value}) => value instanceof Secret)) return [];
  if (settings !== undefined) addStandards([{name: '', found: variables}], settings);
  const unset = variables.filter(({key}) => settings === undefined || ownSetting(settings, key) === undefined);
  const assigned = unset.map(({key, value, source: {name}}) => {
    return `${String(variableOf(key))} to ${value instanceof Secret ? `the value of ${name}` : shown(value)}`;
  });
  return [`Other clients' variables have other names here. Set ${assigned.join(', ')}.`];
}
