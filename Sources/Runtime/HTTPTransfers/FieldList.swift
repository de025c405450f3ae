internal import CLibcurl

/// The one owner of a list of texts as libcurl takes it. It has to outlive the handle's last transfer.
final class FieldList {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  init(_ lines: [String]) {
    for line in lines {
      guard let longer = curl_slist_append(first, line) else { preconditionFailure("no memory for a list") }
      first = longer
    }
  }

  deinit {
    curl_slist_free_all(first)
  }
}
