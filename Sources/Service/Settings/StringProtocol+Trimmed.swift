extension StringProtocol where SubSequence == Substring {
  /// Without the white space around it.
  var trimmed: Substring {
    var rest = drop(while: \.isWhitespace)
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return rest
  }
}
