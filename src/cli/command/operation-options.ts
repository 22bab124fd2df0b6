import type {BundleContentOptions} from '../../bundle/index.js';
import type {BundleFormat, BundleV2Metadata} from '../../bundle/types.js';
import {createError} from '../../errors/index.js';
import type {Logger} from '../../http/types.js';
import type {GuardOptions, TargetConfirmation, WaitOptions} from '../../operations/options.js';
import type {EventBody, PipelineHost} from '../../pipelines/host.js';
import {definitions, settingKeys} from '../../settings/definitions.js';
import type {CheckOptions} from '../../settings/types.js';
import {valuesOf, type Settings, type ValueSource} from '../settings/settings.js';
import type {PluginConfig} from '../settings/write-hooks.js';
import type {AllowedWrite} from './session.js';
import {checkRecordFiles} from './check-records.js';
import type {CommandContext} from './command-context.js';

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

/** What the checks and the rollback of a deployment need, named like the operations' options. */
interface FollowUpOptions extends WaitOptions {
  readonly wait: boolean | undefined;
  readonly check: readonly CheckOptions[];
  readonly rollbackOnFailure: boolean;
}

/**
 * The settings for what follows a deployment. Without a target there is none: checks of a configuration file do not
 * apply then.
 * @param options `canRollBack`: whether it can be rolled back on failure. @default true
 * @throws RuntimeCliError `ERR_USAGE` when waiting is turned off although something follows, or when it is said how to
 * check but not what.
 */
export function followUpOptions(
  settings: Settings,
  {deploys, canRollBack = true}: {readonly deploys: boolean; readonly canRollBack?: boolean},
): FollowUpOptions {
  const {check, checkStatus, checkText, checkRetries, checkInterval, checkTimeout, rollbackOnFailure, wait} = settings;
  rejectUnusedCheckSettings(settings);
  const standard = {
    ...{status: checkStatus?.value, text: checkText?.value, retries: checkRetries.value},
    ...{interval: checkInterval.value, timeout: checkTimeout.value},
  };
  const checks = deploys ? (check?.value ?? []).map((own) => ({...standard, ...own})) : [];
  const rollsBack = deploys && canRollBack && rollbackOnFailure.value;
  const follows = checks.length > 0 ? check : rollsBack ? rollbackOnFailure : undefined;
  const times = valuesOf(settings, 'wait');
  if (follows === undefined || wait.value) return {...times, check: checks, rollbackOnFailure: rollsBack};
  if (wait.source.kind !== 'default') throw cannotFollow(follows.source, wait.source);
  return {...times, wait: undefined, check: checks, rollbackOnFailure: rollsBack};
}

const checkDetails = ['checkStatus', 'checkText', 'checkRetries', 'checkInterval', 'checkTimeout'] as const;

/**
 * Refuses what says how to check if there is no check, which would look as if something was checked. `--check '[]'`
 * turns off what the environment sets, too.
 */
function rejectUnusedCheckSettings(settings: Settings): void {
  const {check} = settings;
  if (check !== undefined && check.value.length > 0) return;
  const kinds = check === undefined ? ['flag', 'environment'] : ['flag'];
  const given = checkDetails.flatMap((key) => {
    const source = settings[key]?.source;
    return source !== undefined && kinds.includes(source.kind) ? [source.name] : [];
  });
  if (given.length === 0) return;
  const names = given.join(', ');
  throw createError('ERR_USAGE', `${names} ${given.length === 1 ? 'requires' : 'require'} a check.`, {
    suggestions: [`Pass --check URL or --check PATH, or remove ${names}.`],
  });
}

function cannotFollow(follows: ValueSource, wait: ValueSource): Error {
  const off = wait.kind === 'flag' ? '--no-wait' : wait.name;
  const what = follows.kind === 'config' ? `check in ${follows.name}` : follows.name;
  return createError('ERR_USAGE', `${what} waits for the deployment, but ${off} turns waiting off.`, {
    suggestions: [`Remove ${off}, or pass --check '[]' --no-rollback-on-failure to neither check nor roll back.`],
  });
}

/** The flags of what can only follow a deployment, and are given without a target. */
export function flagsWithoutTarget(settings: Settings): readonly string[] {
  if (settings.targetSlug !== undefined) return [];
  const given = [settings.wait, settings.check, settings.rollbackOnFailure];
  const needy = given.filter(
    (setting) => setting?.value === true || (Array.isArray(setting?.value) && setting.value.length > 0),
  );
  // Without a check, it is that which they lack.
  const details = needy.includes(settings.check) ? checkDetails.map((key) => settings[key]) : [];
  return [...needy, ...details].flatMap((setting) => (setting?.source.kind === 'flag' ? [setting.source.name] : []));
}

/** The guards of a target, named like the operations' options. Only a person at a terminal can confirm. */
export function guardOptions(
  settings: Settings,
  context: Pick<CommandContext, 'output' | 'stdin' | 'signal'>,
): GuardOptions & {readonly projectDirectory: string} {
  const {guardCleanTree, guardBranch, guardOrigin, guardNotOlder, guardCiOnly, guardConfirm} = settings;
  const ask = async ({operation, projectSlug, bundleId}: TargetConfirmation) => {
    const {askText} = await import('../setup/prompts.js');
    const bundle = bundleId === undefined ? '' : ` of bundle ${String(bundleId)}`;
    const text = `To confirm the ${operation}${bundle} of ${projectSlug}, type the name of the target`;
    return askText({text, fallback: ''}, context);
  };
  return {
    guard: {
      cleanTree: guardCleanTree?.value,
      branch: guardBranch?.value,
      origin: guardOrigin?.value,
      notOlder: guardNotOlder?.value,
      ciOnly: guardCiOnly?.value,
      confirm: guardConfirm?.value,
    },
    confirmTarget: context.output.terminal && context.stdin.isTTY ? ask : undefined,
    production: settings.production?.value,
    projectDirectory: settings.projectDirectory.value,
  };
}

/** What a command passes to its operations. */
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
  const {
    cwd,
    configDirectory,
    dataDirectory,
    env,
    safety,
    ownFiles,
    events,
    output,
    userAgent,
    now,
    temporary,
    noteChange,
    noteCleanup: onCleanup,
  } = context;
  const logger: Logger = {
    debug: (message) => output.debug(message),
    // A redrawn task list shows waits itself.
    info: (message) => (output.interactive ? output.debug(message) : output.info(message)),
    warn: (message) => output.warn(message),
  };
  let changing: string | undefined;
  const onEvent = (event: EventBody) => {
    if (event.type === 'warning') output.warn(event.message);
    else events?.emit(event);
    if (event.type !== 'step' || !changingSteps.has(event.step)) return;
    changing = event.status === 'started' ? event.title : undefined;
    noteChange(changing);
  };
  const terminal = {
    ...{interactive: output.interactive, color: output.color, unicode: output.unicode, stream: output.stream},
    settings: resolved,
    info: (line: string) => output.info(line),
    clean: (text: string) => output.clean(text),
  };
  const checkRecords = checkRecordFiles(dataDirectory);
  const createTemporaryDirectory = () => temporary.create();
  // While plugins are asked, nothing has been sent.
  const whileUnchanged = async (ask: () => Promise<void>) => {
    noteChange(undefined);
    await ask();
    noteChange(changing);
  };
  const writes = config && writeObserver(context, config, whileUnchanged);
  const about = {cwd, configDirectory, env, safety, ownFiles, userAgent, secrets, commandFlags};
  const maskSecret = (secret: string) => output.addSecrets([secret]);
  return {
    ...about,
    logger,
    maskSecret,
    now,
    terminal,
    onEvent,
    writes,
    checkRecords,
    onCleanup,
    createTemporaryDirectory,
  };
}

/** Asks plugins before changes, and remembers what they are told after the command. */
function writeObserver(
  {output, signal, noteWrite, noteEndedWrite}: CommandContext,
  config: PluginConfig,
  whileUnchanged: (ask: () => Promise<void>) => Promise<void>,
): NonNullable<PipelineHost['writes']> {
  let allowed: AllowedWrite | undefined;
  const note = (write: AllowedWrite) => {
    allowed = write;
    noteWrite(write);
  };
  return {
    async before(planned, {dryRun} = {dryRun: false}) {
      const {askBeforeWrite} = await import('../settings/write-hooks.js');
      await whileUnchanged(() => askBeforeWrite(planned, {dryRun}, {config, output, signal}));
      if (!dryRun) note({planned, known: {}});
    },
    learn(facts) {
      if (allowed !== undefined) note({...allowed, known: {...allowed.known, ...facts}});
    },
    conclude(ended) {
      if (allowed !== undefined) noteEndedWrite({...allowed, ended});
      allowed = undefined;
    },
  };
}
