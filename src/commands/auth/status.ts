import {loadAllBackends} from '../../cli/settings/reach-backends.js';
import {optionsFor, readPluginSettings} from '../../cli/settings/plugin-options.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {checkCredentials, checkPlugin} from '../../cli/setup/check-credentials.js';
import {credentialPath, readCredentials} from '../../cli/settings/credential-file.js';
import {backendEntries, describeBackendEntry, isPluginBackend} from '../../cli/setup/backend-login.js';
import {credentialEntries, describeEntry, shownAddress, storedSecrets} from '../../cli/setup/login.js';
import type {AuthStatusDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags, shown} from '../../cli/command/flags.js';
import {Flags} from '../../cli/command/oclif.js';
import type {Settings} from '../../cli/settings/settings.js';

export default class AuthStatus extends BaseCommand<typeof AuthStatus> {
  static override readonly summary = 'List stored credentials and the ones a push from here would use.';
  static override readonly description =
    'Asks each service that a push from here would use whether it accepts the credentials, and shows who they belong to and when they expire. Never shows secrets.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
    '<%= config.bin %> <%= command.id %> --json',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': shown(connectionFlags['api-origin']),
    'runtime-backend': connectionFlags['runtime-backend'],
    'backend-option': shown(connectionFlags['backend-option']),
    verify: Flags.boolean({
      default: true,
      allowNo: true,
      summary: 'Ask the services whether they accept the credentials.',
    }),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, credentialFile} = context;
    const stored = await readCredentials(credentialFile);
    output.addSecrets(storedSecrets(stored));
    const settings = await context.loadSettings();
    const wanted = settings.runtimeBackend.value;
    const backends = isPluginBackend(wanted)
      ? [await this.#plugin(context, settings)]
      : await Promise.all(
          credentialSources(settings).map(async ({isComplete, ...row}) => {
            if (!this.flags.verify || !isComplete) return row;
            const {check} = await checkCredentials(context, settings, row.backend);
            return {...row, check};
          }),
        );
    const credentials = credentialEntries(stored);
    const file = credentialPath(credentialFile);
    const plugins = backendEntries(stored);
    if (credentials.length + plugins.length === 0) output.outcome(`No credentials are stored in ${file}.`);
    else output.outcome(`Stored in ${file}:`);
    for (const entry of credentials) output.outcome(`  ${describeEntry(entry)}`, '    ');
    for (const entry of plugins) output.outcome(`  ${describeBackendEntry(entry)}`, '    ');
    for (const row of backends) output.outcome(describeRow(row, context.now()));
    return {file, credentials, plugins, backends} satisfies Body<AuthStatusDocument>;
  }

  /** The credentials for a plugin's backend. */
  async #plugin(context: CommandContext, settings: Settings): Promise<Row> {
    const {flags, config} = this;
    const registry = await loadAllBackends({context, settings, config, flags});
    const registration = registry.find(settings.runtimeBackend.value);
    const {name, backend} = registration;
    const {secrets = [], secretEnv = []} = backend;
    const given = optionsFor(registration, settings);
    const used = await readPluginSettings(registration, {context, settings, flags});
    const isStored =
      Object.keys(used.variables).length > 0 ||
      secrets.some((key) => used.options[key] !== undefined && given[key] === undefined);
    const isGiven = secrets.some((key) => given[key] !== undefined);
    const variable = secretEnv.find((key) => Boolean(context.env[key]?.trim()));
    const elsewhere = isGiven ? settings.backendOptions.source.name : (variable ?? null);
    const row = {backend: name, source: isStored ? `credentials stored for ${name}` : elsewhere};
    if (!flags.verify) return row;
    const {check} = await checkPlugin(context, settings, {backend, ...used});
    return {...row, check};
  }
}

/** The credentials for a backend. */
type Row = AuthStatusDocument['backends'][number];

/** A line such as `legacy at https://runtime.example: accepted, user ann (from MYCLI_API_KEY)`. */
function describeRow({backend, origin, source, check}: Row, now: Date): string {
  const place = origin === undefined ? backend : `${backend} at ${origin}`;
  if (source === null && check?.status !== 'accepted') return `${place}: no credentials`;
  const {status, user, clientId, expiresAt, reason} = check ?? {};
  const facts = [
    ...(status === undefined || status === 'unknown' ? [] : [status]),
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(clientId === undefined ? [] : [`client ${clientId}`]),
    ...(expiresAt === undefined ? [] : [`token expires ${describeTime(expiresAt, now)}`]),
  ];
  const from = source === null ? '' : `from ${source}`;
  const known = facts.join(', ');
  const line = `${place}: ${known === '' || from === '' ? known + from : `${known} (${from})`}`;
  return reason === undefined ? line : `${line}\n  ${reason}`;
}

function describeTime(time: string, now: Date): string {
  const minutes = Math.round((Date.parse(time) - now.getTime()) / 60_000);
  return `${new Intl.RelativeTimeFormat('en').format(minutes, 'minute')} (${time})`;
}

/** For each backend with an address: where its secret comes from, null when there is none. */
function credentialSources(settings: Settings) {
  const {origin, apiKey, apiOrigin, apiToken, clientId, tokenUrl, clientSecret} = settings;
  const hasClient = clientId !== undefined && tokenUrl !== undefined && clientSecret !== undefined;
  const rows = [
    {backend: 'legacy', address: origin, secret: apiKey, isComplete: apiKey !== undefined},
    {
      backend: 'api',
      address: apiOrigin,
      secret: apiToken ?? clientSecret,
      isComplete: apiToken !== undefined || hasClient,
    },
  ] as const;
  return rows.flatMap(({backend, address, secret, isComplete}) =>
    address === undefined
      ? []
      : [{backend, origin: shownAddress(address.value), source: secret?.source.name ?? null, isComplete}],
  );
}
