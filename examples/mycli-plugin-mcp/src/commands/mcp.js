import process from 'node:process';
import {StdioServerTransport} from '@modelcontextprotocol/sdk/server/stdio.js';
import {Command, Flags} from '@oclif/core';
import {createServer} from '../server.js';

export default class Mcp extends Command {
  /** @override */
  static summary =
    'Serve the commands of mycli to an agent, as tools of the Model Context Protocol on stdin and stdout.';
  /** @override */
  static description =
    'Only commands that change nothing are tools, and MYCLI_SAFETY=read-only applies to them, unless --allow-changes is passed.';
  /** @override */
  static flags = {
    'allow-changes': Flags.boolean({summary: 'Commands that change the service or this machine are tools, too.'}),
  };

  async run() {
    const {flags} = await this.parse(Mcp);
    const server = await createServer(this.config.root, {allowsChanges: flags['allow-changes'], env: process.env});
    const closed = new Promise((resolve) => {
      server.onclose = () => resolve(undefined);
      process.stdin.once('end', () => void server.close());
    });
    await server.connect(new StdioServerTransport());
    await closed;
  }
}
