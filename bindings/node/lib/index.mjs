// The package for import: the same classes as those of require().
import Realm from './index.cjs';

export default Realm;
export { Realm };
export const {
  BSON,
  Collection,
  Counter,
  Dictionary,
  List,
  OrderedCollection,
  Results,
  Types,
  UpdateMode,
  flags,
  NumericLogLevel,
  RealmError,
  ArgumentError,
  FileError,
  TypeAssertionError,
} = Realm;
const { Object: RealmObject, Set: RealmSet } = Realm;
export { RealmObject, RealmSet };
