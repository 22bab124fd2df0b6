import {commands} from '@oclif/plugin-plugins';

export default commands['plugins:reset'];
