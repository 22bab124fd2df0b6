import {resolve} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import {createContext, type CommandContext} from './command-context.js';
import {createSession, type AllowedWrite, type Session, sessionOf} from './session.js';
import {isUsageError, usageError} from './error-report.js';
import {globalFlags} from './flags.js';
import type {JsonDocument} from '../output/output.js';
import {givenValue, rejectSwitchValues} from './command-line.js';
import {definitions, variableOf, type SettingKey} from '../../settings/definitions.js';
import type {BackendReach} from '../settings/reach-backends.js';
import {Command} from './oclif.js';

// All that the file of a command needs.
export {Args, Flags} from './oclif.js';
export type {CommandContext} from './command-context.js';
export type {JsonDocument} from '../output/output.js';

type CommandFlags<T extends typeof Command> = Interfaces.InferredFlags<typeof globalFlags & T['flags']>;
type CommandArgs<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;

/**
 * The base of every command. It parses and runs `execute`; run.ts turns its document and its errors into text, JSON and
 * an exit code.
 */
export abstract class BaseCommand<T extends typeof Command> extends Command {
  static override readonly baseFlags = globalFlags;

  /** The flags on the command line. Settings also have the environment and the configuration file. */
  declare protected flags: CommandFlags<T>;
  declare protected args: CommandArgs<T>;
  /** Whether `--events` is for this command, if it has that flag. */
  protected readonly hasEvents: boolean = true;
  /** All that is no flag, for commands that are not strict. */
  protected words: readonly string[] = [];

  /** Does the work. Resolves to the document that `--json` prints. */
  protected abstract execute(context: CommandContext): Promise<JsonDocument | undefined>;

  /** Loads the settings, unless they are given, and prepares what operations need to reach a backend. */
  protected async reach<Needed extends SettingKey>(
    context: CommandContext,
    needs: readonly Needed[],
    more: Partial<BackendReach<Needed>> = {},
  ) {
    const settings = more.settings ?? (await context.loadSettings());
    const {reachBackends} = await import('../settings/reach-backends.js');
    return reachBackends({context, settings, needs, ...more});
  }

  override async run(): Promise<void> {
    const session = sessionOf(this.config) ?? createSession(process, new AbortController().signal);
    try {
      await this.#openEvents(session);
      session.ended = {document: await this.#run(session)};
    } catch (error) {
      session.ended = {error: isUsageError(error) ? usageError(error, this.id) : error};
      throw error;
    } finally {
      await this.#tellPlugins(session);
    }
  }

  /** Before the command line is parsed, so that an invalid one is an event, too. */
  async #openEvents(session: Session): Promise<void> {
    const {flag} = definitions.events;
    if (flag === undefined || !this.hasEvents || !(flag.name in {...this.ctor.flags})) return;
    const variable = session.env[variableOf('events') ?? '']?.trim() || undefined;
    const destination = givenValue(this.argv, `--${flag.name}`) ?? variable;
    if (destination === undefined) return;
    const {RunEvents} = await import('../output/run-events.js');
    const cwd = resolve(session.cwd, givenValue(this.argv, '--cwd', '-C') ?? '');
    session.events = new RunEvents(destination, cwd, session.output);
  }

  /** The outcome of the command stands already. */
  async #tellPlugins({writes, ended = {error: undefined}, output, signal}: Session): Promise<void> {
    if (writes.length === 0) return;
    const {tellAfterWrite} = await import('../settings/write-hooks.js');
    const outcome = 'error' in ended ? ended : {};
    const tell = (told: AllowedWrite) =>
      tellAfterWrite(told, told.ended ?? outcome, {config: this.config, output, signal});
    // One after the other, in the order of what happened, unless there is hardly any time.
    if (signal.aborted) await Promise.all(writes.map(tell));
    else for (const told of writes) await tell(told);
  }

  async #run(session: Session): Promise<JsonDocument | undefined> {
    rejectSwitchValues(this.argv, {...this.ctor.baseFlags, ...this.ctor.flags});
    const {flags, args, argv} = await this.parse(withoutStdin(this.ctor));
    this.flags = flags as CommandFlags<T>;
    this.args = args as CommandArgs<T>;
    this.words = argv.map(String);
    if (session.safety !== undefined) {
      const {parseSafety} = await import('../../operations/guard/safety.js');
      parseSafety(session.safety);
    }
    const context = createContext(session, {flags, config: this.config});
    const {commands} = this.config;
    const short = commands.flatMap(({id, aliases}) => {
      const alias = aliases.find((name) => !name.includes(':'));
      return alias === undefined ? [] : [[id, alias] as const];
    });
    session.output.shortenHints({aliases: new Map(short)});
    try {
      return await this.execute(context);
    } catch (error) {
      throw context.describeError(error);
    }
  }

  // oclif's own logs all arguments, including secrets.
  protected override init(): Promise<void> {
    return Promise.resolve();
  }

  protected override catch(error: unknown): Promise<never> {
    return Promise.reject(isUsageError(error) ? usageError(error, this.id) : error);
  }
}

// oclif would use stdin, perhaps a secret, as a missing argument.
function withoutStdin({flags, baseFlags, args, strict}: typeof Command) {
  return {
    flags: {...baseFlags, ...flags},
    args: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, {...arg, ignoreStdin: true}] as const)),
    strict,
  };
}
