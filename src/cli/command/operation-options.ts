import {resolve} from 'node:path';
import type {BundleContentOptions} from '../../bundle/index.js';
import type {BundleFormat, BundleV2Metadata} from '../../bundle/types.js';
import {createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import type {GuardOptions, TargetConfirmation, WaitOptions} from '../../operations/options.js';
import type {PipelineHost} from '../../pipelines/host.js';
import {definitions, settingKeys, type SettingKey} from '../../settings/definitions.js';
import type {CheckOptions} from '../../settings/types.js';
import {valuesOf, type Setting, type Settings, type ValueSource, missingSetting} from '../settings/settings.js';
import type {PluginConfig} from '../settings/write-hooks.js';
import {checkRecordFiles} from './records.js';
import type {CommandContext} from './context.js';
import type {AllowedWrite, Session} from './context.js';
import {partsOf} from '../../errors/suggestion.js';

/**
 * Converts the settings of a bundle to the library's options of the same names. `--node-version` sets the SSR parameter
 * `SSRFunctionNodeVersion`, and `--dependencies auto` means all those in the project's package.json.
 * @throws RuntimeCliError `ERR_CONFIG_INVALID` when that package.json cannot be read.
 */
export async function bundleOptions(settings: Settings) {
  const {nodeVersion, dependencies: _, ccOverrides: __, ...options} = valuesOf(settings, 'bundle');
  const version = nodeVersion === undefined ? undefined : {SSRFunctionNodeVersion: nodeVersion};
  const ssrParameters = version === undefined ? options.ssrParameters : {...options.ssrParameters, ...version};
  return {...options, ssrParameters, bundleMetadata: await bundleMetadata(settings)} satisfies BundleContentOptions;
}

async function bundleMetadata({
  dependencies,
  ccOverrides,
  projectDirectory,
}: Settings): Promise<BundleV2Metadata | undefined> {
  if (dependencies === undefined && ccOverrides === undefined) return undefined;
  const {readDeclaredDependencies} = await import('../../bundle/index.js');
  const declared =
    dependencies?.value === 'auto' ? await readDeclaredDependencies(projectDirectory.value) : dependencies?.value;
  return {dependencies: declared, ccOverrides: ccOverrides?.value};
}

/**
 * The settings for pushing a prebuilt archive. A configuration file's build settings do not apply; those of the command
 * line or the environment stay, and are refused later.
 */
export function archiveSettings(settings: Settings): Settings {
  const configured = settingKeys.filter(
    (key) => definitions[key].building === true && settings[key]?.source.kind === 'config',
  );
  return {...settings, ...Object.fromEntries(configured.map((key) => [key, undefined]))};
}

/**
 * Refuses v2-only flags for a v1 bundle. Ignoring them would look like success.
 * @param v2Flag the flag that selects v2.
 * @throws RuntimeCliError `ERR_USAGE`.
 */
export function rejectV2OnlyFlags(format: BundleFormat, settings: Settings, v2Flag: '--v2' | '--format v2'): void {
  if (format === 'v2') return;
  const given = settingKeys
    .filter((key) => definitions[key].v2Only === true && settings[key]?.source.kind === 'flag')
    .flatMap((key) => settings[key]?.source.name ?? []);
  if (given.length === 0) return;
  throw createError('ERR_USAGE', `${given.join(', ')} cannot be used with the v1 format.`, {
    suggestions: [`Pass ${v2Flag} to use the v2 format, or remove these flags.`],
  });
}

/** The settings of a deployment and of what follows it, named like the operations' options. */
export interface DeploymentOptions extends WaitOptions, GuardOptions {
  readonly wait: boolean | undefined;
  readonly check: readonly CheckOptions[];
  readonly rollbackOnFailure: boolean;
  readonly projectDirectory: string;
}

const checkDetails = ['checkStatus', 'checkText', 'checkRetries', 'checkInterval', 'checkTimeout'] as const;

/**
 * The settings of a deployment: its guards, its checks and its rollback. Without a target there is none: checks of a
 * configuration file do not apply then. Only a person at a terminal can confirm.
 * @param options `canRollBack`: whether it can be rolled back on failure. @default true
 * @throws RuntimeCliError `ERR_USAGE` when waiting is turned off although something follows, or when flags say how to
 * check but not what.
 */
export function deploymentOptions(
  settings: Settings,
  context: Pick<CommandContext, 'output' | 'stdin' | 'signal'>,
  {canRollBack = true}: {readonly canRollBack?: boolean} = {},
): DeploymentOptions {
  const {check, checkStatus, checkText, checkRetries, checkInterval, checkTimeout, rollbackOnFailure, wait} = settings;
  const own = check?.value ?? [];
  const details = flagsAmong(checkDetails.map((key) => settings[key]));
  if (own.length === 0 && details.length > 0) {
    const names = details.join(', ');
    throw createError('ERR_USAGE', `${names} ${details.length === 1 ? 'requires' : 'require'} a check.`, {
      suggestions: [`Pass --check URL or --check PATH, or remove ${names}.`],
    });
  }
  const deploys = settings.targetSlug !== undefined;
  const standard = {
    status: checkStatus?.value,
    text: checkText?.value,
    retries: checkRetries.value,
    interval: checkInterval.value,
    timeout: checkTimeout.value,
  };
  const checks = deploys ? own.map((one) => ({...standard, ...one})) : [];
  const rollsBack = deploys && canRollBack && rollbackOnFailure.value;
  const follows = checks.length > 0 ? check : rollsBack ? rollbackOnFailure : undefined;
  if (follows !== undefined && !wait.value && wait.source.kind !== 'default')
    throw cannotFollow(follows.source, wait.source);
  return {
    ...valuesOf(settings, 'wait'),
    ...guardOptions(settings, context),
    // What follows waits.
    wait: follows !== undefined && !wait.value ? undefined : wait.value,
    check: checks,
    rollbackOnFailure: rollsBack,
  };
}

function cannotFollow(follows: ValueSource, wait: ValueSource): Error {
  const off = wait.kind === 'flag' ? '--no-wait' : wait.name;
  const what = follows.kind === 'config' ? `check in ${follows.name}` : follows.name;
  return createError('ERR_USAGE', `${what} waits for the deployment, but ${off} turns waiting off.`, {
    suggestions: [`Remove ${off}, or pass --check '[]' --no-rollback-on-failure to neither check nor roll back.`],
  });
}

/** The target, if it is missing and flags are given that only apply to a deployment. */
export function lackedTarget(settings: Settings): readonly Missing[] {
  const {targetSlug, wait, check, rollbackOnFailure} = settings;
  const needy = [wait, check, rollbackOnFailure].filter((setting) => setting?.value === true || hasItems(setting));
  const [flag] = targetSlug === undefined ? flagsAmong(needy) : [];
  if (flag === undefined) return [];
  const error = createError('ERR_USAGE', `${flag} requires a target.`, {
    suggestions: [`Pass --target SLUG, or remove ${flag}.`],
  });
  return [{what: 'target', error}];
}

function hasItems(setting: Setting<unknown> | undefined): boolean {
  return Array.isArray(setting?.value) && setting.value.length > 0;
}

function flagsAmong(given: readonly (Setting<unknown> | undefined)[]): readonly string[] {
  return given.flatMap((setting) => (setting?.source.kind === 'flag' ? [setting.source.name] : []));
}

function guardOptions(settings: Settings, context: Pick<CommandContext, 'output' | 'stdin' | 'signal'>) {
  const ask = async ({operation, projectSlug, bundleId}: TargetConfirmation) => {
    const {askText} = await import('../setup/prompts.js');
    const bundle = bundleId === undefined ? '' : ` of bundle ${String(bundleId)}`;
    const text = `To confirm the ${operation}${bundle} of ${projectSlug}, type the name of the target`;
    return askText({text, fallback: ''}, context);
  };
  return {
    guard: {
      cleanTree: settings.guardCleanTree?.value,
      branch: settings.guardBranch?.value,
      origin: settings.guardOrigin?.value,
      notOlder: settings.guardNotOlder?.value,
      ciOnly: settings.guardCiOnly?.value,
      confirm: settings.guardConfirm?.value,
    },
    confirmTarget: context.output.terminal && context.stdin.isTTY ? ask : undefined,
    production: settings.production?.value,
    projectDirectory: settings.projectDirectory.value,
  };
}

interface CommandHostOptions {
  /** Where plugins that follow changes are. @default nobody is asked */
  readonly config?: PluginConfig | undefined;
  /** Values to mask in all their output. */
  readonly secrets?: readonly string[];
  /** Lines with the source of each setting, shown with the choice of the backend. */
  readonly resolved?: readonly string[];
  /** Flags that suggested commands repeat. */
  readonly commandFlags?: readonly string[];
}

/** The steps that change something on a server. If the process ends during one, its outcome is unknown. */
const changingSteps: ReadonlySet<string> = new Set(['upload', 'deploy', 'rollback', 'delete']);

/** The host of a command's operations, which shows their steps on the terminal. */
export function commandHost(
  context: CommandContext,
  {secrets = [], resolved = [], commandFlags, config}: CommandHostOptions = {},
): PipelineHost {
  const {cwd, configDirectory, env, session, output} = context;
  const {'output-env': outputEnv} = context.flags;
  let changing: string | undefined;
  return {
    cwd,
    configDirectory,
    env,
    safety: session.safety,
    ownFiles: [session.events?.file ?? [], typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : []].flat(),
    userAgent: context.config.userAgent,
    secrets,
    commandFlags,
    logger: {
      debug: (message) => output.debug(message),
      // A redrawn task list shows waits itself.
      info: (message) => (output.interactive ? output.debug(message) : output.info(message)),
      warn: (message) => output.warn(message),
    },
    maskSecret: (secret) => output.addSecrets([secret]),
    now: () => new Date(),
    terminal: {
      interactive: output.interactive,
      color: output.color,
      unicode: output.unicode,
      stream: output.stream,
      settings: resolved,
      info: (line) => output.info(line),
      clean: (text) => output.clean(text),
    },
    onEvent(event) {
      if (event.type === 'warning') output.warn(event.message);
      else session.events?.emit(event);
      if (event.type !== 'step' || !changingSteps.has(event.step)) return;
      changing = event.status === 'started' ? event.title : undefined;
      session.changing = changing;
      session.hasChanged = true;
    },
    writes: config && {
      async before(planned, {dryRun} = {dryRun: false}) {
        const {askBeforeWrite} = await import('../settings/write-hooks.js');
        // While plugins are asked, nothing has been sent.
        session.changing = undefined;
        await askBeforeWrite(planned, {dryRun}, {config, output, signal: session.signal});
        session.changing = changing;
        // A fallback replaces what was planned before.
        const earlier = session.writes.filter(({ended}) => ended !== undefined);
        if (!dryRun) session.writes = [...earlier, {planned, known: {}}];
      },
      learn(facts) {
        amendLastWrite(session, ({known}) => ({known: {...known, ...facts}}));
      },
      conclude(ended) {
        amendLastWrite(session, () => ({ended}));
      },
    },
    checkRecords: checkRecordFiles(context.config.dataDir),
    onCleanup: (work) => void session.cleanups.push(work),
    createTemporaryDirectory: () => context.createTemporaryDirectory(),
  };
}

function amendLastWrite(session: Session, amend: (write: AllowedWrite) => Partial<AllowedWrite>): void {
  session.writes = session.writes.map((write) => (write.ended === undefined ? {...write, ...amend(write)} : write));
}

export interface Missing {
  /** A noun: `build`. */
  readonly what: string;
  /** The error to report if nothing else is missing. */
  readonly error: RuntimeCliError;
}

export function missingSettings(settings: Settings, needs: readonly SettingKey[]): readonly Missing[] {
  return needs
    .filter((key) => settings[key] === undefined)
    .map((key) => ({what: definitions[key].label, error: missingSetting(key)}));
}

export async function missingBuild(directory: string, cwd: string): Promise<readonly Missing[]> {
  const {verifyBuildDirectory} = await import('../../bundle/files/build-output.js');
  try {
    await verifyBuildDirectory(directory, cwd);
    return [];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [{what: 'build', error}];
  }
}

/**
 * Reports everything that is missing at once. A single missing thing has its own error.
 * @param hint another way to fix it
 * @throws RuntimeCliError `ERR_SETUP_INCOMPLETE`.
 */
export function requireTogether(
  missing: readonly Missing[],
  hint = 'Run mycli init, which sets up a project step by step. Or set each of these:',
): void {
  if (missing.length < 2) return;
  // A project that has a name is set up.
  const hints = missing.some(({what}) => what === definitions.projectSlug.label) ? [hint] : [];
  const nouns = new Intl.ListFormat('en').format(missing.map(({what}) => what));
  throw createError('ERR_SETUP_INCOMPLETE', `Missing ${nouns}.`, {
    suggestions: [
      ...hints,
      ...missing.map(({error: {message, advice}}) => [message, ...advice.flatMap((said) => [' ', ...partsOf(said)])]),
    ],
    details: {
      missing: missing.map(({what, error: {code, message, suggestions}}) => ({what, code, message, suggestions})),
    },
  });
}
