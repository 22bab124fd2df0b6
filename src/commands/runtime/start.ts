import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import prettyBytes from 'pretty-bytes';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import type {Documents} from '../../cli/output/documents.js';
import {endOfFlags, unexpectedArgument} from '../../cli/command/error-report.js';
import {writeEnvFile} from '../../cli/output/step-outputs.js';
import {loadConfigFile} from '../../cli/settings/config-file.js';
import {createError, type CommandToRun} from '../../errors/index.js';
import type {RequestRecord} from '../../testing.js';

export default class RuntimeStart extends BaseCommand<typeof RuntimeStart, 'runtime:start'> {
  static override readonly changes = 'machine';
  static override readonly isEndless = true;
  static override readonly summary = 'Start a local hosting service for development.';
  static override readonly description =
    'Speaks the protocols of both built-in backends. Stores bundles and deployments in a data folder and serves deployed ' +
    'bundles at http://TARGET--PROJECT.localhost on a second port. Once it is ready, prints what to type next, or with ' +
    '--json one line. Runs until Ctrl-C. With a command after --, runs that command with the variables set, and ends ' +
    'with its exit code. For development only.';
  static override readonly usage = '<%= command.id %> [FLAGS] [-- COMMAND]';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 4000 --data .runtime-data',
    '<%= config.bin %> <%= command.id %> --fault 429x2:retry-after=1',
    '<%= config.bin %> <%= command.id %> -- npm test',
  ];
  static override readonly strict = false;
  static override readonly flags = {
    port: Flags.integer({
      min: 0,
      max: 65_535,
      helpValue: 'PORT',
      summary: 'Port to listen on, 0 for any free one; default: the last one used with the data folder.',
    }),
    data: Flags.string({helpValue: 'DIR', summary: 'Data folder; default: a temporary folder, removed on exit.'}),
    ssr: Flags.boolean({
      summary: 'Run the servers of deployed apps, each in its own process. Runs the code of whatever is deployed.',
    }),
    fault: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'FAULT',
      summary: 'Fault to inject, such as 429x2:retry-after=1; repeatable.',
    }),
    latency: Flags.integer({min: 0, helpValue: 'MS', summary: 'Delay before each answer, in milliseconds.'}),
    'require-auth': Flags.boolean({default: true, allowNo: true, summary: 'Require valid credentials.'}),
    protect: Flags.string({helpValue: 'PASSWORD', summary: 'Ask visitors of deployed apps for this password.'}),
    api: Flags.boolean({summary: 'Print the variables for OAuth instead of those for an API key.'}),
    'log-requests': Flags.boolean({summary: 'Print each request with its answer.'}),
    'output-env': Flags.string({helpValue: 'FILE', summary: 'Write the variables for mycli to a dotenv file.'}),
    'apps-port': Flags.integer({
      min: 0,
      max: 65_535,
      helpValue: 'PORT',
      summary: 'Port for deployed apps, 0 for any free one; default: the last one used with the data folder.',
    }),
    host: Flags.string({default: '127.0.0.1', helpValue: 'ADDRESS', summary: 'Address to listen on.'}),
    'ssr-env': Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME=VALUE',
      summary: 'Variable for the servers of apps; repeatable.',
      dependsOn: ['ssr'],
    }),
    'deployment-seconds': Flags.integer({min: 0, helpValue: 'S', summary: 'Duration of a deployment.'}),
  };

  protected async execute(context: CommandContext): Promise<undefined> {
    const {data, host, protect, latency = 0, fault = [], 'output-env': outputEnv} = this.flags;
    const {output, cwd, env, signal, guardCode} = context;
    const command = this.#command(output.json);
    const {appEnvironment, commandEnvironment, nextSteps, runCommand, runtimeVariables, unsetVariables} =
      await import('../../cli/setup/local-runtime.js');
    const envPath = outputEnv === undefined ? undefined : resolve(cwd, outputEnv);
    // A new file waits for the runtime: it may be in the data folder, which has to be empty before.
    if (envPath !== undefined && existsSync(envPath)) await writeEnvFile(envPath, unsetVariables, output, 0o600);
    const log = this.flags['log-requests'] ? output.info.bind(output) : output.debug.bind(output);
    const {startLocalRuntime} = await import('../../testing.js');
    const runtime = await startLocalRuntime({
      port: this.flags.port,
      appsPort: this.flags['apps-port'],
      host,
      dataDirectory: data === undefined ? undefined : resolve(cwd, data),
      auth: this.flags['require-auth'],
      protect,
      faults: latency === 0 ? fault : [...fault, `latency=${String(latency)}`],
      deploymentSeconds: this.flags['deployment-seconds'],
      ssr: this.flags.ssr,
      ssrEnvironment: appEnvironment(env, this.flags['ssr-env'] ?? []),
      onAppOutput: (line) => output.info(line),
      onRequest: (record) => log(requestLine(record)),
      onWarning: (message) => output.warn(message, [], {recurs: true}),
    });
    try {
      const {origin, appsOrigin, dataDirectory, credentials} = runtime;
      if (!/^(?:(?:.*\.)?localhost|127\..*|::1)$/.test(host)) {
        const others = this.flags.ssr ? 'use it, and have it run their code' : 'use it';
        output.warn(`The runtime listens on ${host}: other machines that reach this one can ${others}.`);
      }
      // Development credentials are printed for use, even if the environment contains the same ones.
      output.revealSecrets(Object.values(credentials));
      if (envPath !== undefined) await writeEnvFile(envPath, runtimeVariables(runtime), output, 0o600);
      const announcement = `Local runtime for development at ${origin}, deployed apps at ${appsOrigin}, data in ${dataDirectory}`;
      if (command !== undefined) {
        output.info(announcement);
        // The command will report what is wrong with it.
        const file = await loadConfigFile({cwd, guardCode, warn: () => undefined}, this.flags.config).catch(
          () => undefined,
        );
        const variables = {
          ...commandEnvironment(env, runtime, file?.settings.runtimeBackend),
          ...(protect !== undefined && {MYCLI_CHECK_PASSWORD: protect}),
        };
        context.session.exitCode = await runCommand(command, {cwd, env: variables, signal});
        return undefined;
      }
      output.document({origin, appsOrigin, dataDirectory, credentials} satisfies Documents['runtime:start']);
      output.outcome(announcement);
      const steps = nextSteps(runtime, this.flags.api ? 'api' : 'legacy');
      if (!output.json) for (const line of steps) output.info(line);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      await runtime.close();
    }
    return undefined;
  }

  /** The command after `--`. @throws RuntimeCliError `ERR_USAGE` for other arguments. */
  #command(json: boolean): readonly string[] | undefined {
    const end = this.argv.indexOf('--');
    const command = end === -1 ? [] : this.argv.slice(end + 1);
    const [stray] = this.words.slice(0, this.words.length - command.length);
    if (stray !== undefined) {
      throw createError('ERR_USAGE', unexpectedArgument(stray), {
        suggestions: [[`To run a command against the runtime, put it after ${endOfFlags}: `, this.#example(stray)]],
      });
    }
    if (end === -1) return undefined;
    if (command.length > 0 && !json) return command;
    const problem = json
      ? 'A command cannot be run with --json, because it uses stdout itself.'
      : 'The command after -- is missing.';
    throw createError('ERR_USAGE', problem, {suggestions: [['For example, run ', this.#example('--')]]});
  }

  /** The command line up to a word, with a command to run. */
  #example(end: string): CommandToRun {
    const flags = this.argv.slice(0, this.argv.indexOf(end)).filter((word) => word !== '--json');
    return {run: ['runtime:start', ...flags, '--', 'npm', 'test']};
  }
}

/** `POST /api/projects/shop/builds/ 201 12 ms, 34.5 kB received` */
function requestLine({method, path, status, durationMs, bytesReceived, fault}: RequestRecord): string {
  const answer = status === 0 ? 'no answer' : String(status);
  const received = bytesReceived > 0 ? `, ${prettyBytes(bytesReceived)} received` : '';
  return `${method} ${path} ${answer} ${Math.round(durationMs)} ms${received}${fault === undefined ? '' : `, fault ${fault}`}`;
}
