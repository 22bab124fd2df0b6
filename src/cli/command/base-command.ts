import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import {createContext, type CommandContext} from './command-context.js';
import {isUsageError, usageError} from '../errors/oclif-errors.js';
import {globalFlags} from './flags.js';
import type {JsonDocument} from '../output/output.js';
import {asksForVersion} from '../process/command-line.js';
import {Command} from '../process/oclif.js';
import {createSession, sessions, type Session} from '../process/session.js';

/** The flags of a command, as the command line gave them. */
type CommandFlags<T extends typeof Command> = Interfaces.InferredFlags<typeof globalFlags & T['flags']>;
/** The arguments of a command. */
type CommandArgs<T extends typeof Command> = Interfaces.InferredArgs<T['args']>;

/**
 * The base of every command: parses and runs `execute`. Its document and its errors are left to run.ts, the one place
 * that turns them into text, JSON and an exit code.
 */
export abstract class BaseCommand<T extends typeof Command> extends Command {
  static override readonly baseFlags = globalFlags;

  /** What stood on the command line. Settings know the environment and the configuration file too. */
  declare protected flags: CommandFlags<T>;
  declare protected args: CommandArgs<T>;
  /** All that is no flag, for commands that are not strict. */
  protected words: readonly string[] = [];

  /** Does the work, and resolves to the document that `--json` prints. */
  protected abstract execute(context: CommandContext): Promise<JsonDocument | undefined>;

  /** Parses and executes. Commands override `execute` instead. */
  override async run(): Promise<void> {
    const session = sessions.getStore() ?? createSession(process, new AbortController().signal);
    if (asksForVersion(this.argv, {...this.ctor.baseFlags, ...this.ctor.flags})) {
      // It is for people, with --json too.
      session.output.releaseStdout();
      process.stdout.write(`${this.config.userAgent}\n`);
      return;
    }
    try {
      session.ended = {document: await this.#run(session)};
    } catch (error) {
      session.ended = {error: isUsageError(error) ? usageError(error, this.id) : error};
      throw error;
    }
  }

  async #run(session: Session): Promise<JsonDocument | undefined> {
    const {flags, args, argv} = await this.parse(commandLineOnly(this.ctor));
    this.flags = flags as CommandFlags<T>;
    this.args = args as CommandArgs<T>;
    this.words = argv.map(String);
    const context = createContext(session, {flags, config: this.config});
    try {
      return await this.execute(context);
    } catch (error) {
      throw await context.describeError(error);
    }
  }

  // oclif's own logs all arguments, secrets among them.
  protected override init(): Promise<void> {
    return Promise.resolve();
  }

  protected override catch(error: unknown): Promise<never> {
    return Promise.reject(isUsageError(error) ? usageError(error, this.id) : error);
  }
}

type AnyFlag = Interfaces.FlagInput[string];

// oclif would fill in environment variables, which hides where a value comes from and leaves lists unsplit, and take
// what waits on stdin, perhaps a secret, for a missing argument. The value of a setting is judged where it is resolved,
// by one schema for all of its sources.
function commandLineOnly({flags, baseFlags, args, strict}: typeof Command) {
  const given = Object.entries<AnyFlag>({...baseFlags, ...flags});
  return {
    flags: Object.fromEntries(
      given.map(([name, flag]) => [name, flag.env === undefined ? flag : unjudged(flag)] as const),
    ),
    args: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, {...arg, ignoreStdin: true}] as const)),
    strict,
  };
}

function unjudged(flag: AnyFlag): AnyFlag {
  const copy = {...flag};
  delete copy.env;
  if (copy.type === 'option') delete copy.options;
  return copy;
}
