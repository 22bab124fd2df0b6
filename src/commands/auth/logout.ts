import {BaseCommand, Flags, type CommandContext, type JsonDocument} from '../../cli/command/base-command.js';
import {isPluginBackend} from '../../cli/settings/connection.js';
import {readCredentials, updateCredentials, withoutCredentials} from '../../cli/settings/credential-file.js';
import {originOf} from '../../cli/settings/load-settings.js';
import type {AuthLogoutDocument} from '../../cli/output/documents.js';
import {connectionFlags, shown} from '../../cli/command/flags.js';
import type {Settings} from '../../cli/settings/settings.js';
import {createError} from '../../errors/index.js';

export default class AuthLogout extends BaseCommand<typeof AuthLogout> {
  static override readonly aliases = ['logout'];
  static override readonly summary = 'Remove the stored credentials for one origin or backend, or for all.';
  static override readonly description =
    "Without flags, removes the credentials for the origins set in the environment and the configuration file. With the name of a plugin's backend, removes the secrets stored for it.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --origin https://runtime.example',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme',
    '<%= config.bin %> <%= command.id %> --all',
  ];
  static override readonly flags = {
    origin: connectionFlags.origin,
    'api-origin': shown(connectionFlags['api-origin']),
    'runtime-backend': connectionFlags['runtime-backend'],
    all: Flags.boolean({summary: 'Remove the credentials for every origin and backend.'}),
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {output, credentialFile} = context;
    const {all, 'runtime-backend': backend = 'auto'} = this.flags;
    const isPlugin = !all && isPluginBackend(backend);
    const stored = await readCredentials(credentialFile);
    const trusted = (stored.trusted ?? []).map((url) => new URL(url).origin);
    const everyOrigin = all ? [...new Set([...Object.keys(stored.origins), ...trusted])] : [];
    const named = all || isPlugin ? everyOrigin : this.#origins(await context.loadSettings({stored: false}));
    const origins = named.filter((name) => stored.origins[name] !== undefined);
    const backends = Object.keys(stored.backends ?? {}).filter((name) => all || (isPlugin && name === backend));
    if (origins.length + backends.length > 0 || named.some((name) => trusted.includes(name))) {
      await updateCredentials(credentialFile, (now) => withoutCredentials(now, {origins: named, backends}));
    }
    for (const name of origins) output.outcome(`Removed the credentials for ${name}.`);
    for (const name of backends) output.outcome(`Removed the secrets for the ${name} backend.`);
    if (origins.length + backends.length === 0) {
      output.outcome(
        isPlugin
          ? `No secrets are stored for the ${backend} backend.`
          : `No credentials are stored for ${named.join(' or ') || 'any origin'}.`,
      );
    }
    return {removed: [...origins, ...backends]} satisfies AuthLogoutDocument;
  }

  #origins({origin, apiOrigin}: Settings): readonly string[] {
    const given = [origin, apiOrigin].filter((setting) => setting?.source.kind === 'flag');
    const named = (given.length > 0 ? given : [origin, apiOrigin]).flatMap((setting) => originOf(setting) ?? []);
    if (named.length > 0) return [...new Set(named)];
    throw createError('ERR_USAGE', 'No origin specified.', {
      suggestions: ['Pass --origin, --api-origin or --all. Run mycli auth:status to list the stored credentials.'],
    });
  }
}
