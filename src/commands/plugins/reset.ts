import {commands} from '@oclif/plugin-plugins';

export default Object.assign(commands['plugins:reset'], {changes: 'machine'});
