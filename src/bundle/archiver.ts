// The archive library, and the one behind it that writes its headers. The build makes one file of this module and of the
// packages behind it: both come from the same copy.
export {TarArchive} from 'archiver';
export {pack} from 'tar-stream';
