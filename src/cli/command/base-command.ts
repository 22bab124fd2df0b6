import {resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {Command} from '@oclif/core/command';
import {CommandContext} from './command-context.js';
import type {Session} from './session.js';
import {isUsageError, usageError, type ParsedFlags} from './error-report.js';
import {wordToRepeat} from './repeated-words.js';
import {globalFlags, refuseExpanded, rejectMissingValues} from './flags.js';
import type {HostConfig} from './host-config.js';
import type {Documents} from '../output/documents.js';
import type {JsonDocument} from '../output/output.js';
import {givenValue, givenValues, markValues, rejectSwitchValues, withoutMarks} from './command-line.js';
import {isRuntimeCliError} from '../../errors/index.js';
import {flagValue} from '../../text/suggest.js';
import {definitions, variableOf, type SettingKey} from '../../settings/definitions.js';
import {misspeltVariables, type SettingsUse} from '../settings/load-settings.js';
import type {BackendReach} from '../settings/reach-backends.js';

export * as Args from '@oclif/core/args';
export * as Flags from '@oclif/core/flags';
export type {CommandContext} from './command-context.js';

type CommandFlags<T extends typeof Command> = Interfaces.InferredFlags<typeof globalFlags & T['flags']>;
type CommandArgs<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;

/** The base of every command, by its ID. run.ts prints the document or error of `execute`, and sets the exit code. */
export abstract class BaseCommand<T extends typeof Command, Id extends keyof Documents> extends Command {
  static override readonly baseFlags = globalFlags;

  /** What it changes, if anything. In the manifest, for tools that list commands. */
  static readonly changes?: 'service' | 'machine';
  /** Whether it prints documents until it is stopped. */
  static readonly isEndless?: boolean;

  declare config: HostConfig;
  /** The flags on the command line. Settings also have the environment and the configuration file. */
  declare protected flags: CommandFlags<T>;
  declare protected args: CommandArgs<T>;
  /** All arguments as typed, for commands that are not strict. */
  protected words: readonly string[] = [];

  protected abstract execute(context: CommandContext): Promise<Documents[Id] | undefined>;

  /** Loads the settings, unless the command has loaded them, and prepares what operations need to reach a backend. */
  protected async reach<Needed extends SettingKey>(
    context: CommandContext,
    needs: readonly Needed[],
    {target = this.#targetArgument(), ...more}: Partial<BackendReach<Needed>> & Pick<SettingsUse, 'target'> = {},
  ) {
    const settings = more.settings ?? (await context.loadSettings({target}));
    const {reachBackends} = await import('../settings/reach-backends.js');
    const takesSlug = 'slug' in this.ctor.args;
    return reachBackends({context, settings, needs, writes: context.writes, takesSlug, ...more});
  }

  #targetArgument(): SettingsUse['target'] {
    const {slug}: {readonly slug?: string | undefined} = this.args;
    return slug === undefined ? undefined : {slug, argument: 'SLUG'};
  }

  constructor(argv: string[], {options}: HostConfig) {
    // oclif would make a configuration of its own, which calls hooks differently.
    super(argv, options.config());
  }

  override async run(): Promise<void> {
    const session = this.config.options.session();
    try {
      await this.#openEvents(session);
      session.ended = {document: await this.#execute(session)};
    } catch (error) {
      session.ended = {error};
      throw error;
    } finally {
      await this.#tellPlugins(session);
    }
  }

  /** Before the command line is parsed, so that an invalid one is an event, too. */
  async #openEvents(session: Session): Promise<void> {
    const {flag} = definitions.events;
    // oclif leaves the flags of a command undefined that declares none.
    if (flag === undefined || !(flag.name in {...this.ctor.flags})) return;
    const variable = session.env[variableOf('events') ?? '']?.trim() || undefined;
    const destination = givenValue(this.argv, `--${flag.name}`) ?? variable;
    if (destination === undefined) return;
    const {RunEvents} = await import('../output/run-events.js');
    const cwd = resolve(session.cwd, givenValue(this.argv, '--cwd', '-C') ?? '');
    session.events = new RunEvents(destination, cwd, session.output);
  }

  async #execute(session: Session): Promise<JsonDocument | undefined> {
    const {flags, args, argv} = await this.#parsed();
    this.flags = flags as CommandFlags<T>;
    this.args = args as CommandArgs<T>;
    this.words = argv.map(String);
    const {changes, isEndless} = this.constructor as typeof BaseCommand;
    if (isEndless) session.output.expectLines();
    const context = new CommandContext(session, flags, this.config, changes === 'service');
    const names = Object.keys({...this.ctor.baseFlags, ...this.ctor.flags});
    for (const line of misspeltVariables(session.env, names)) session.output.warn(line);
    try {
      if (changes !== 'service' || !('output-env' in this.ctor.flags)) return await this.execute(context);
      const {withStepOutputs} = await import('../output/step-outputs.js');
      return await withStepOutputs(context, this.id ?? '', () => this.execute(context));
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      const {withOtherCredentials} = await import('../setup/take-over.js');
      const {withCredentialSource} = await import('../settings/credential-file.js');
      const backend = session.ledgers.at(-1)?.open?.backend.name ?? '';
      const {settings, secretSource} = context;
      throw await withOtherCredentials(withCredentialSource(error, settings, backend, secretSource), context);
    }
  }

  async #parsed() {
    const {flags: declared, baseFlags, args, strict} = this.ctor;
    const flags = {...baseFlags, ...declared};
    rejectSwitchValues(this.argv, flags);
    // oclif would add its own words to the error.
    if ('invalidate' in flags) for (const value of givenValues(this.argv, '--invalidate')) await refuseExpanded(value);
    // oclif would use stdin, perhaps a secret, as a missing argument.
    const own = Object.entries(args).map(([name, arg]) => [name, {...arg, ignoreStdin: true}] as const);
    try {
      const options = {flags, args: Object.fromEntries(own), strict};
      const parsed = await this.parse(options, markValues(this.argv, flags));
      const given = this.#repeatFlags(parsed);
      const line = {...parsed, flags: given};
      rejectMissingValues(line, flags);
      return line;
    } catch (error) {
      if (!isUsageError(error)) throw error;
      if (error.parse?.output !== undefined) this.#repeatFlags(error.parse.output);
      throw usageError(error, this.id);
    }
  }

  /** Has suggested commands repeat the flags of the command line, which are returned. */
  #repeatFlags({flags: marked, raw}: ParsedFlags): Readonly<Record<string, unknown>> {
    const flags = Object.fromEntries(Object.entries(marked).map(([name, value]) => [name, unmarked(value)]));
    const textOf = (name: string) => (typeof flags[name] === 'string' ? flags[name] : '');
    const {cwd, output} = this.config.options.session();
    // Absolute: users may keep the line.
    const folder = textOf('cwd') && resolve(cwd, textOf('cwd'));
    const config = textOf('config') === '' ? [] : flagValue('--config', textOf('config'));
    const typed = raw.flatMap((token) => {
      if (token.type !== 'flag' || token.flag in globalFlags) return [];
      const {flag: name, input} = token;
      const isSwitch = typeof flags[name] === 'boolean';
      const words = isSwitch
        ? [`--${flags[name] === true ? '' : 'no-'}${name}`]
        : flagValue(`--${name}`, wordToRepeat(name, withoutMarks(input)));
      const commands = this.config.commands.filter((one) => name in one.flags).map(({id}) => id);
      return [{flag: `--${name}` as const, words, commands}];
    });
    output.completeHints({folder, config, typed});
    return flags;
  }

  /** Tells plugins how each change ended. The outcome of the command stays, whatever they do. */
  async #tellPlugins({ledgers, output, signal}: Session): Promise<void> {
    if (ledgers.every(({changes}) => changes.length === 0)) return;
    const {followsWrites, tellAfterWrite} = await import('../settings/write-hooks.js');
    if (!followsWrites(this.config)) return;
    const {endOfChange, factsOfChange} = await import('../../pipelines/outcome.js');
    const told = ledgers.flatMap((ledger) =>
      ledger.changes.map((change) => () => {
        const write = {...change.planned, ...factsOfChange(change, ledger)};
        return tellAfterWrite(write, endOfChange(change, ledger), {config: this.config, output, signal});
      }),
    );
    // In the order of what happened, unless there is hardly any time.
    if (signal.aborted) await Promise.all(told.map((tell) => tell()));
    else for (const tell of told) await tell();
  }
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked);
  return typeof value === 'string' ? withoutMarks(value) : value;
}
