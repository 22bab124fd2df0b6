import {BaseCommand, type CommandContext} from '../../cli/command/base-command.js';
import {connectionFlags, yesFlag} from '../../cli/command/flags.js';
import {backendTitle, mayUse} from '../../backends/names.js';
import {isApiUnset} from '../../cli/settings/connection-options.js';
import {credentialPath, updateCredentials, withCredentialSource} from '../../cli/settings/credential-file.js';
import {originOf} from '../../cli/settings/load-settings.js';
import {missingSetting} from '../../cli/settings/settings.js';
import {consent} from '../../cli/setup/prompts.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';

export default class AuthRotate extends BaseCommand<typeof AuthRotate, 'auth:rotate'> {
  static override readonly changes = 'service';
  static override readonly summary = 'Create an API key that replaces the current one, and store it.';
  static override readonly description =
    'The old key stops working at once, everywhere. The new one is stored like auth:login does, and never shown.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example --yes',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-key': connectionFlags['api-key'],
    ...yesFlag,
  };

  protected async execute(context: CommandContext) {
    const {output, credentialFile} = context;
    const ask = consent(this.flags.yes, 'Replacing the API key', 'Nothing was changed.', context);
    const settings = await context.loadSettings();
    const {apiKey, apiUser, runtimeBackend} = settings;
    const origin = originOf(settings.origin);
    const serving = runtimeBackend.value === 'auto' && !isApiUnset(settings) ? 'api' : runtimeBackend.value;
    if (origin === undefined && !mayUse(serving, 'legacy')) {
      throw createError('ERR_USAGE', `Only API keys can be rotated, and this project uses ${backendTitle(serving)}.`, {
        suggestions: ['To rotate an API key, pass --origin URL.'],
      });
    }
    if (origin === undefined) throw missingSetting('origin');
    if (apiKey === undefined) throw missingSetting('apiKey');
    const {readBackend} = await import('../../cli/settings/reach-backends.js');
    const [{renewApiKey}, {refuseUnsafe}] = await Promise.all([
      import('../../operations/identify.js'),
      import('../../operations/guard/safety.js'),
    ]);
    const {options, secrets, resolved} = await readBackend(context, settings, 'legacy');
    const host = context.host({secrets});
    refuseUnsafe({operation: 'rotate-key'}, host);
    await ask(`Replace the API key of ${origin}? The old one stops working at once.`);
    const key = await renewApiKey(resolved, {...options, signal: context.signal}, host).catch((error: unknown) => {
      throw isRuntimeCliError(error) ? withCredentialSource(error, settings, 'legacy', undefined) : error;
    });
    await updateCredentials(credentialFile, (stored) => ({
      ...stored,
      origins: {...stored.origins, [origin]: {...stored.origins[origin], apiKey: {key, user: apiUser?.value}}},
    }));
    const file = credentialPath(credentialFile);
    output.outcome(`Stored a new API key for ${origin} in ${file}. The old one no longer works.`);
    const {kind, name} = apiKey.source;
    const own = kind === 'stored' ? [] : [`${name}, which overrides the stored key`];
    const places = [...own, 'secrets of CI', 'other machines', 'files of other clients, such as ~/.mobify'];
    output.outcome(`Replace it where it may still be used: ${places.join(', ')}.`);
    return {origin, file};
  }
}
