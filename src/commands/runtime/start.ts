import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import type {Body, RuntimeStartDocument} from '../../cli/output/documents.js';
import {Flags} from '../../cli/process/oclif.js';
import type {LocalRuntimeCredentials} from '../../testing/index.js';

const helpGroup = 'RUNTIME';

export default class RuntimeStart extends BaseCommand<typeof RuntimeStart> {
  static override readonly summary = 'Start a local hosting service for development.';
  static override readonly description =
    'Speaks the protocols of both built-in backends. Stores bundles and deployments in a data folder and serves deployed ' +
    'bundles at /PROJECT/TARGET/. Prints one line when it is ready and runs until Ctrl-C. For development only.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 4000 --data .runtime-data',
    '<%= config.bin %> <%= command.id %> --fault 429x2:retry-after=1',
  ];
  static override readonly flags = {
    port: Flags.integer({
      min: 0,
      max: 65_535,
      default: 0,
      helpValue: 'PORT',
      summary: 'Port to listen on, or 0 for any free port.',
      helpGroup,
    }),
    host: Flags.string({default: '127.0.0.1', helpValue: 'ADDRESS', summary: 'Address to listen on.', helpGroup}),
    data: Flags.string({
      helpValue: 'DIR',
      summary: 'Data folder; default: a temporary folder, removed on exit.',
      helpGroup,
    }),
    auth: Flags.boolean({default: true, allowNo: true, summary: 'Require valid credentials.', helpGroup}),
    fault: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'FAULT',
      summary: 'Fault to inject, such as 429x2:retry-after=1; repeatable.',
      helpGroup,
    }),
    'deployment-seconds': Flags.integer({min: 0, helpValue: 'S', summary: 'Duration of a deployment.', helpGroup}),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument | undefined> {
    const {port, host, data, auth, fault, 'deployment-seconds': deploymentSeconds} = this.flags;
    const {resolve} = await import('node:path');
    const {startLocalRuntime} = await import('../../testing/index.js');
    const {logger, output, cwd, signal} = context;
    const runtime = await startLocalRuntime({
      port,
      host,
      dataDirectory: data === undefined ? undefined : resolve(cwd, data),
      auth,
      faults: fault,
      deploymentSeconds,
      onRequest: ({method, path, status}) => {
        logger.debug(`${method} ${path} ${String(status)}`);
      },
    });
    try {
      const {origin, dataDirectory, credentials} = runtime;
      // Made for development and printed for use, even when the environment has the same already.
      output.revealSecrets(Object.values(credentials));
      const document = {origin, dataDirectory, credentials} satisfies Body<RuntimeStartDocument>;
      output.document(document, {oneLine: true});
      output.result(`Local runtime for development at ${origin}, data in ${dataDirectory}`);
      if (!output.json) for (const line of credentialLines(origin, credentials)) output.info(line);
      await until(signal);
    } finally {
      await runtime.close();
    }
    return undefined;
  }
}

function credentialLines(origin: string, credentials: LocalRuntimeCredentials): readonly string[] {
  const {apiKey, organizationId, clientId, clientSecret, tokenUrl} = credentials;
  const variables = {
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: apiKey,
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: organizationId,
    MYCLI_TOKEN_URL: tokenUrl,
    MYCLI_CLIENT_ID: clientId,
    MYCLI_CLIENT_SECRET: clientSecret,
  };
  return Object.entries(variables).map(([name, value]) => `export ${name}=${value}`);
}

function until(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      {once: true},
    );
  });
}
