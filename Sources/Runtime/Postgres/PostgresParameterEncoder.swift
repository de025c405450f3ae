/// Encodes the parameters of one statement for libpq.
///
/// A connection reuses one and its memory, because libpq copies the values when it sends the statement.
package struct PostgresParameterEncoder {
  private var types: [PostgresType] = []
  private var bytes: [UInt8] = []
  private var offsets: [Int] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []
  private var isRefused = false

  init() {}

  /// Encodes a statement's parameters.
  /// - Throws: ``PostgresError/Code/invalidParameter`` with the parameter's number and type, but not its value.
  mutating func encode(
    _ parameters: [any PostgresEncodable], for statement: PostgresStatement
  ) throws(PostgresError) {
    guard parameters.count == statement.parameterTypes.count else {
      throw PostgresError(
        .invalidParameter, "\(parameters.count) parameters for \(statement.parameterTypes.count) declared"
      ).of(statement: statement.name)
    }
    reset(types: statement.parameterTypes)
    for (index, parameter) in parameters.enumerated() {
      parameter.encode(into: &self)
      precondition(formats.count == index + 1, "\(type(of: parameter)) appends exactly one parameter")
      if isRefused {
        throw PostgresError(.invalidParameter, "parameter $\(index + 1) does not fit \(types[index])")
          .of(statement: statement.name)
      }
    }
  }

  /// Passes the values, lengths and formats for `PQsendQueryPrepared`, valid during the call.
  func withArguments<Result>(
    _ body: (
      _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
      _ formats: UnsafePointer<Int32>?, _ count: Int32
    ) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { storage in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: offsets.count) { values in
        // libpq takes the bytes as `char *`.
        let base = storage.assumingMemoryBound(to: CChar.self).baseAddress
        for (index, offset) in offsets.enumerated() {
          values.initializeElement(at: index, to: offset < 0 ? nil : base.map { $0 + offset })
        }
        return body(values.baseAddress, lengths, formats, Int32(offsets.count))
      }
    }
  }

  private mutating func reset(types: [PostgresType]) {
    self.types = types
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
    offsets.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    formats.removeAll(keepingCapacity: true)
    isRefused = false
  }

  private mutating func append(from offset: Int, format: Int32) {
    offsets.append(offset)
    lengths.append(offset < 0 ? 0 : Int32(bytes.count - offset))
    formats.append(format)
    // libpq reads text up to a NUL, and the pointer to an empty last value must be inside the storage.
    bytes.append(0)
  }
}

// The methods for the types of parameters.
extension PostgresParameterEncoder {
  package mutating func appendNull() {
    append(from: -1, format: 0)
  }

  /// The parameter is sent as text, which the server reads as the declared type. A NUL byte refuses the statement.
  package mutating func appendText(_ text: some Sequence<UInt8>) {
    let offset = bytes.count
    bytes.append(contentsOf: text)
    if bytes.hasZero(from: offset) { isRefused = true }
    append(from: offset, format: 0)
  }

  /// The parameter is an array, sent in binary form.
  /// - Parameter append: appends the element at an index with its length in front, or −1 for a null, and returns false to refuse
  ///   the statement.
  package mutating func appendArray(
    count: Int, _ append: (_ index: Int, _ type: PostgresType, _ bytes: inout [UInt8]) -> Bool
  ) {
    appendBinary { type, bytes in
      guard let element = type.element else { return false }
      ArrayHeader.append(element, count: count, to: &bytes)
      for index in 0..<count {
        guard append(index, element, &bytes) else { return false }
      }
      return true
    }
  }

  /// The parameter is sent in binary form.
  /// - Parameter write: appends the form of the declared type, and returns false to refuse the statement.
  package mutating func appendBinary(_ write: (_ type: PostgresType, _ bytes: inout [UInt8]) -> Bool) {
    let offset = bytes.count
    if !write(types[formats.count], &bytes) { isRefused = true }
    append(from: offset, format: 1)
  }
}
