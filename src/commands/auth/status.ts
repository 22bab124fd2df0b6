import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {connectionFlags} from '../../cli/command/flags.js';
import {exitCodes} from '../../errors/index.js';
import {
  backendEntries,
  credentialEntries,
  credentialPath,
  readCredentials,
  everySecret,
  type CredentialEntry,
} from '../../cli/settings/credential-file.js';
import {warnOfIncompleteApi} from '../../cli/settings/connection-options.js';
import {loadWantedBackends} from '../../cli/settings/load-backends.js';
import {
  checkServices,
  describeCheck,
  serviceTitle,
  type ServiceCredentials,
} from '../../cli/setup/check-credentials.js';

export default class AuthStatus extends BaseCommand<typeof AuthStatus, 'auth:status'> {
  static override readonly summary = 'List stored credentials and the ones a push from here would use.';
  static override readonly description =
    'Asks each service that a push from here would use whether it accepts the credentials, and shows who they belong ' +
    'to and when they expire. Never shows secrets. ' +
    `Exits with ${String(exitCodes.credentials)} if a service refuses them.`;
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
    '<%= config.bin %> <%= command.id %> --json',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': connectionFlags['api-origin'],
    organization: connectionFlags.organization,
    project: connectionFlags.project,
    'runtime-backend': connectionFlags['runtime-backend'],
    'backend-option': connectionFlags['backend-option'],
    verify: Flags.boolean({
      default: true,
      allowNo: true,
      summary: 'Ask the services whether they accept the credentials.',
    }),
  };

  protected async execute(context: CommandContext) {
    const {output, credentialFile} = context;
    const stored = await readCredentials(credentialFile);
    output.addSecrets(everySecret(stored));
    const settings = await context.loadSettings();
    const registry = await loadWantedBackends(context, settings);
    const services = await checkServices(context, settings, registry, this.flags.verify);
    const credentials = credentialEntries(stored);
    const plugins = backendEntries(stored);
    const file = credentialPath(credentialFile);
    output.outcome(
      credentials.length + plugins.length === 0 ? `No credentials are stored in ${file}.` : `Stored in ${file}:`,
    );
    for (const entry of credentials) output.outcome(`  ${describeEntry(entry)}`, '    ');
    for (const {backend, options, origins} of plugins) {
      const place = origins.length === 0 ? '' : `, for ${origins.join(', ')}`;
      output.outcome(`  ${backend}: ${options.join(', ')}${place}`, '    ');
    }
    for (const service of services) output.outcome(describeService(service));
    if (services.length === 0 && credentials.length > 0)
      output.outcome('A push from here would use none of them. Pass --origin or --api-origin to it.');
    warnOfIncompleteApi(context, settings);
    if (services.some(({check}) => check?.status === 'refused')) context.session.exitCode = exitCodes.credentials;
    const backends = services.map(({failed: _, ...row}) => row);
    return {file, credentials, plugins, backends};
  }
}

/** `https://api.example: client-secret of ci, for https://login.example/token` */
function describeEntry({origin, kind, user, clientId, tokenUrl}: CredentialEntry): string {
  const name = user ?? clientId;
  return `${origin}: ${kind}${name === undefined ? '' : ` of ${name}`}${tokenUrl === undefined ? '' : `, for ${tokenUrl}`}`;
}

/** A line such as `Runtime (API key) at https://runtime.example: accepted, user ann (from MYCLI_API_KEY)`. */
function describeService(service: ServiceCredentials): string {
  const {source, check} = service;
  const place = serviceTitle(service);
  if (source === null && check?.status !== 'accepted') return `${place}: no credentials`;
  const from = source === null ? '' : `from ${source}`;
  const known = check === undefined ? '' : describeCheck(check);
  const line = `${place}: ${known === '' || from === '' ? known + from : `${known} (${from})`}`;
  return [line, ...(check?.reason === undefined ? [] : [check.reason]), ...(check?.suggestions ?? [])].join('\n  ');
}
