import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf} from '../../cli/command/flags.js';
import type {DeploymentLogsDocument} from '../../cli/output/documents.js';

export default class DeploymentLogs extends BaseCommand<typeof DeploymentLogs> {
  /** No built-in backend has logs. */
  static override readonly hidden = true;
  static override readonly summary = 'Show the log of a deployment.';
  static override readonly description =
    "Of the target's newest deployment, or of the one given with --deployment. Only for backends that have logs.";
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> --target staging --follow',
    '<%= config.bin %> <%= command.id %> --target staging --deployment 12 --json',
  ];
  static override readonly flags = {
    ...flagsOf('connection', 'rateLimit', 'events'),
    deployment: Flags.string({
      helpValue: 'ID',
      summary: 'ID of the deployment, as bundle:history shows it; default: the newest.',
    }),
    follow: Flags.boolean({char: 'f', summary: 'Wait for more lines until the log is complete.'}),
  };

  protected async execute(context: CommandContext): Promise<DeploymentLogsDocument> {
    const {options, host} = await this.reach(context, ['projectSlug', 'targetSlug']);
    const {deployment: deploymentId, follow} = this.flags;
    const {output} = context;
    const show = (lines: readonly string[]) => {
      for (const line of lines) output.result(line);
    };
    const {readDeploymentLogs} = await import('../../pipelines/read.js');
    const read = {...options, deploymentId, follow};
    const result = await readDeploymentLogs({...read, onLines: output.json ? undefined : show}, host);
    return result;
  }
}
