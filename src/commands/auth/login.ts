import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {credentialPath, updateCredentials} from '../../cli/credentials/credential-file.js';
import {credentialKinds, loginTarget, type CredentialKind} from '../../cli/credentials/login.js';
import {readSecretInput} from '../../cli/command/prompts.js';
import type {AuthLoginDocument, Body} from '../../cli/output/documents.js';
import {connectionFlags} from '../../cli/command/flags.js';
import {Flags} from '../../cli/process/oclif.js';
import {checkedSecret} from '../../cli/settings/load-settings.js';
import type {Settings} from '../../cli/settings/settings.js';

const {
  origin,
  'api-user': apiUser,
  'api-origin': apiOrigin,
  'token-url': tokenUrl,
  'client-id': clientId,
} = connectionFlags;

export default class AuthLogin extends BaseCommand<typeof AuthLogin> {
  static override readonly aliases = ['login'];
  static override readonly summary = 'Store credentials for an origin.';
  static override readonly description =
    'Prompts for the secret without echoing it, or reads it from stdin. Stored credentials are used for this origin only, and ' +
    'flags, environment variables and the configuration file override them. The server is not contacted.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example < key.txt',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --token-url https://login.example/token --client-id ci',
    '<%= config.bin %> <%= command.id %> --api-origin https://api.example --kind api-token',
  ];
  static override readonly flags = {
    origin,
    'api-user': apiUser,
    'api-origin': apiOrigin,
    'token-url': tokenUrl,
    'client-id': clientId,
    kind: Flags.option({
      options: credentialKinds,
      summary: 'Kind of credential; default client-secret with --api-origin, otherwise api-key.',
      helpGroup: 'CONNECTION',
    })(),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, stdin, signal, credentialFile} = context;
    const settings = await context.loadSettings({stored: false});
    const target = loginTarget(context, settings, this.#kind(settings));
    const input = await readSecretInput({stdin, stream: output.stream, prompt: output.clean(target.prompt), signal});
    const secret = checkedSecret(input, `the ${target.kind}`);
    output.addSecrets([secret]);
    await updateCredentials(credentialFile, (stored) => ({
      ...stored,
      [target.origin]: {...stored[target.origin], ...target.complete(secret)},
    }));
    const file = credentialPath(credentialFile);
    output.result(`Stored the ${target.kind} for ${target.origin} in ${file}.`);
    return {origin: target.origin, kind: target.kind, file} satisfies Body<AuthLoginDocument>;
  }

  #kind({origin, apiOrigin}: Settings): CredentialKind {
    if (this.flags.kind !== undefined) return this.flags.kind;
    if (this.flags.origin !== undefined) return 'api-key';
    const isApi = this.flags['api-origin'] !== undefined || (origin === undefined && apiOrigin !== undefined);
    return isApi ? 'client-secret' : 'api-key';
  }
}
