import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {credentialPath, readCredentials} from '../../cli/credentials/credential-file.js';
import {credentialEntries, describeEntry, shownAddress, storedSecrets} from '../../cli/credentials/login.js';
import type {AuthStatusDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags} from '../../cli/command/flags.js';
import type {Settings} from '../../cli/settings/settings.js';

export default class AuthStatus extends BaseCommand<typeof AuthStatus> {
  static override readonly summary = 'List stored credentials and the ones a push from here would use.';
  static override readonly description = 'Does not show secrets or contact any server.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': connectionFlags['api-origin'],
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, credentialFile} = context;
    const stored = await readCredentials(credentialFile);
    output.addSecrets(storedSecrets(stored));
    const backends = credentialSources(await context.loadSettings());
    const credentials = credentialEntries(stored);
    const file = credentialPath(credentialFile);
    if (credentials.length === 0) output.result(`No credentials are stored in ${file}.`);
    else output.result(`Stored in ${file}:`);
    for (const entry of credentials) output.result(`  ${describeEntry(entry)}`);
    for (const {backend, origin, source} of backends) {
      output.result(`${backend} at ${origin}: ${source === null ? 'no credentials' : `from ${source}`}`);
    }
    return {file, credentials, backends} satisfies Body<AuthStatusDocument>;
  }
}

/** For each backend with an address: where its secret comes from, null when there is none. */
function credentialSources({origin, apiKey, apiOrigin, apiToken, clientSecret}: Settings) {
  const backends = [
    {backend: 'legacy', origin, secret: apiKey},
    {backend: 'api', origin: apiOrigin, secret: apiToken ?? clientSecret},
  ];
  return backends.flatMap(({backend, origin: address, secret}) =>
    address === undefined ? [] : [{backend, origin: shownAddress(address.value), source: secret?.source.name ?? null}],
  );
}
