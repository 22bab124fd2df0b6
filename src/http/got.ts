// The HTTP library. The build makes one file of this module and of the packages behind it.
export {got} from 'got';
