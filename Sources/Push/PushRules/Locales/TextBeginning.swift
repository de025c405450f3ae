extension String {
  /// The longest beginning of whole grapheme clusters that takes at most so many bytes, with its isolates closed.
  ///
  /// Bounds the bytes before it looks for clusters, because a cluster may have any length. A cluster that the bound tears is
  /// left out.
  /// - Parameter width: the bytes that one byte of the text takes, such as those of its escape in JSON.
  package func beginning(bytesMax: Int, width: (UInt8) -> Int = { _ in 1 }) -> String {
    let closed = String(clusters(within: bytesMax, width)).closingIsolates
    guard closed.utf8.reduce(0, { $0 + width($1) }) > bytesMax else { return closed }
    return String(clusters(within: bytesMax - Self.closingBytesMax, width)).closingIsolates
  }

  private func clusters(within bytesMax: Int, _ width: (UInt8) -> Int) -> Substring {
    var room = bytesMax
    let bound = unicodeScalars.indices.first { index in
      room -= UTF8.encode(unicodeScalars[index])?.reduce(0) { $0 + width($1) } ?? 0
      return room < 0
    }
    guard let bound else { return self[...] }
    // The scalar after the bound shows whether the last cluster goes on.
    let examined = self[..<unicodeScalars.index(after: bound)]
    var end = startIndex
    while end < bound {
      let next = examined.index(after: end)
      guard next <= bound else { break }
      end = next
    }
    return self[..<end]
  }
}
