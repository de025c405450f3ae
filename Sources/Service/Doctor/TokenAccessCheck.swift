internal import PushStore

/// Whether device tokens are out of the reach of strangers: a role that writes one can get another user's pushes.
enum TokenAccessCheck {
  static let name = "token access"

  static func judge(_ access: [TokenAccess]) -> [CheckFinding] {
    guard !access.isEmpty else {
      return [CheckFinding(name, .ok, "no other role than the owner and the service reaches push_tokens")]
    }
    return access.map {
      let role = $0.role == "public" ? "public" : "\"\($0.role.replacing("\"", with: "\"\""))\""
      return CheckFinding(
        name, .failure, "role \($0.role) can \($0.privileges) on every row of public.push_tokens",
        remedy:
          "revoke \($0.privileges) on public.push_tokens from \(role), or enable row-level security with policies "
          + "for a user's own rows; a server of yours that writes tokens can have BYPASSRLS")
    }
  }
}
