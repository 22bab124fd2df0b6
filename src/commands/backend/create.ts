import {relative, resolve} from 'node:path';
import {Args, BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {pluginPackage, writePlugin} from '../../cli/setup/new-plugin.js';
import {shellLine} from '../../text/suggest.js';

export default class BackendCreate extends BaseCommand<typeof BackendCreate, 'backend:create'> {
  static override readonly changes = 'machine';
  static override readonly summary = 'Create a plugin with a backend, tests and a CI workflow.';
  static override readonly description =
    'Writes the package mycli-plugin-NAME in TypeScript. Its backend NAME passes the conformance suite against a ' +
    'stand-in for a service: replace both with yours, step by step. Writes into a folder with other files only ' +
    'with --force.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> my-service',
    '<%= config.bin %> <%= command.id %> my-service --dir plugins/my-service',
  ];
  static override readonly args = {
    name: Args.string({required: true, description: 'Name of the backend: a-z, 0-9 and "-".'}),
  };
  static override readonly flags = {
    dir: Flags.string({helpValue: 'DIR', summary: 'Folder to write to; by default mycli-plugin-NAME.'}),
    force: Flags.boolean({summary: 'Write into a folder that is not empty, and replace files of the same name.'}),
  };

  protected async execute({cwd, output}: CommandContext) {
    const {name} = this.args;
    const {dir, force} = this.flags;
    const packageName = pluginPackage(name);
    const directory = resolve(cwd, dir ?? packageName);
    const files = await writePlugin({name, directory, force, mycli: {root: this.config.root}});
    // The shell is not where --cwd leads.
    const place = this.flags.cwd === undefined ? relative(cwd, directory) : directory;
    output.outcome(`Wrote the plugin to ${place === '' ? 'this folder' : place}.`);
    const next = [
      ...(place === '' ? [] : [shellLine('cd', place)]),
      'npm install',
      'npm test',
      shellLine(...output.program, 'plugins:link', '--no-install', '.'),
      shellLine(...output.program, 'backend:list', '--runtime-backend', name),
    ];
    output.outcome('Next:');
    for (const command of next) output.result(`  ${command}`);
    return {backend: name, package: packageName, directory, files, next};
  }
}
