// An app with OkHttp and Firebase Messaging. tacet is called outside the main thread. A push with "silent": "true" updates a notification;
// the channel decides about its sound.

fun tacet(method: String, path: String, json: JSONObject? = null) {
  val text = json?.toString() ?: if (method == "DELETE") null else ""
  val request = Request.Builder().url("https://push.example.com/v1/$path").header("Authorization", "Bearer ${session.token()}")
    .method(method, text?.toRequestBody("application/json".toMediaType())).build()
  OkHttpClient().newCall(request).execute().close()
}

fun register(token: String) = tacet("PUT", "fcm/registrations", JSONObject().put("token", token))

class Messages : FirebaseMessagingService() {
  override fun onNewToken(token: String) = register(token)
  override fun onMessageReceived(message: RemoteMessage) {
    if (message.data["type"] == "read") clear(JSONArray(message.data["message_ids"]))
  }
}

FirebaseMessaging.getInstance().token.addOnSuccessListener { io.execute { register(it) } }  // at each start
tacet("PUT", "conversations/$id/last-seen")                                   // onResume, then every 20 seconds
tacet("DELETE", "conversations/$id/last-seen")                                // onPause
tacet("POST", "conversations/$id/read")
intent.getStringExtra("push_log_id")?.let { tacet("POST", "pushes/$it/opened") }  // in onCreate and onNewIntent
tacet("DELETE", "fcm/registrations", JSONObject().put("token", token))        // before the log-out
