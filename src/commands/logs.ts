import {BaseCommand, Flags, type CommandContext} from '../cli/command/base-command.js';
import {ageFlag, flagsOf} from '../cli/command/flags.js';
import {describeSettings} from '../cli/settings/settings.js';

export default class Logs extends BaseCommand<typeof Logs, 'logs'> {
  static override readonly isEndless = true;
  static override readonly summary = 'Follow what the app of a target logs, until Ctrl-C.';
  static override readonly description =
    'One line for each entry: its time, its level, the ID of its request and its text. Reconnects with a new token when ' +
    'the connection ends. With --json, each entry is a line of JSON.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --project my-shop --target staging',
    '<%= config.bin %> <%= command.id %> --project my-shop --target staging --level warn --json',
  ];
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit', 'events'),
    since: Flags.string({helpValue: 'AGE', summary: 'Only entries at most this old, such as 15m or 2h.'}),
    level: Flags.string({
      options: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
      summary: 'Only entries of at least this level.',
    }),
    grep: Flags.string({helpValue: 'REGEXP', summary: 'Only entries whose text matches.'}),
    request: Flags.string({helpValue: 'ID', summary: 'Only entries of this request.'}),
  };

  protected async execute(context: CommandContext): Promise<undefined> {
    const {cwd, output, signal} = context;
    const {since, level, grep, request} = this.flags;
    const {entryFilter, renderEntry} = await import('../cli/output/log-entries.js');
    const sinceMs = since === undefined ? undefined : ageFlag('--since', since);
    const shows = entryFilter({sinceMs, level, grep, request});
    const {settings, options, host} = await this.reach(context, ['projectSlug', 'targetSlug'], {readsLogs: true});
    const places = describeSettings(settings, ['logsOrigin'], cwd);
    const {openLogs} = await import('../pipelines/targets.js');
    const time = () => new Date().toISOString().replace(/\.\d+/, '');
    const heard = {at: time(), isInterrupted: false};
    const onReconnect = (reason: string) => {
      heard.isInterrupted = true;
      output.info(`${reason} Reconnecting.`);
      output.info(`Entries from ${heard.at} until then may be missing.`);
    };
    const {entries, clockAheadMs} = await openLogs({...options, onReconnect}, host);
    for (const line of places) output.info(line);
    output.info(`Connecting to the logs of ${options.targetSlug}. Press Ctrl-C to stop.`);
    if (request !== undefined)
      output.info('Entries without a request ID, such as all of the local runtime, are left out.');
    try {
      for await (const entry of entries) {
        if (heard.isInterrupted) output.info(`Reconnected. Entries from ${heard.at} to ${time()} may be missing.`);
        Object.assign(heard, {at: time(), isInterrupted: false});
        if (!shows(entry, Date.now() + clockAheadMs())) continue;
        output.documentLine(entry);
        renderEntry(entry, output);
        if (!(await output.flush())) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
