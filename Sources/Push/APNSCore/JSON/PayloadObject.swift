/// Members of a JSON object in a fixed order, so that equal data always gives equal bytes.
///
/// Keys are unique: setting one again replaces its value in place. Looking a key up walks the list, which is the
/// fastest way for the handful of members that fit into 4 KB.
public struct PayloadObject: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  /// Keys and values in the order in which the keys were first set.
  public private(set) var members: [(key: String, value: PayloadValue)] = []

  /// An object without members.
  public init() {}

  /// Members in the order written; of equal keys the last value stays.
  public init(dictionaryLiteral elements: (String, PayloadValue)...) {
    for (key, value) in elements { self[key] = value }
  }

  /// The value of a key; setting nil removes the member.
  public subscript(key: String) -> PayloadValue? {
    get { members.first { $0.key == key }?.value }
    set {
      switch (members.firstIndex { $0.key == key }, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Whether both hold equal members in the same order, which is when their bytes are equal.
  public static func == (one: PayloadObject, other: PayloadObject) -> Bool {
    one.members.count == other.members.count && zip(one.members, other.members).allSatisfy { $0 == $1 }
  }
}
