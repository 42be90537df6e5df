;;; dape.el --- git idd for dape -*- lexical-binding: t -*-
;; Load it, then `M-x dape RET git-idd RET'; `git-idd-record' records a test first.
;; `M-x git-idd-recommend' asks which step to look at, `M-x git-idd-answer' judges it.
(defvar dape-configs)
(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               '(git-idd modes (c-mode c-ts-mode c++-mode c++-ts-mode)
                         command "git-idd" command-args ("dap")
                         command-cwd dape-command-cwd
                         :type "git-idd" :request "launch"))
  (add-to-list 'dape-configs
               '(git-idd-record modes (c-mode c-ts-mode c++-mode c++-ts-mode)
                                command "git-idd" command-args ("dap")
                                command-cwd dape-command-cwd
                                :type "git-idd" :request "launch"
                                :command git-idd--read-command
                                :build git-idd--read-build)))

(declare-function dape-request "dape")
(declare-function dape--live-connection "dape")

(defun git-idd--read-command ()
  "Ask for the test command."
  (read-string "Test command: "))

(defun git-idd--read-build ()
  "Ask for the build command."
  (read-string "Build command: "))

(defvar git-idd--last nil "The last recommendation.")

(defun git-idd--show (body failure)
  "Show the recommendation BODY, or the FAILURE to get one."
  (if failure
      (message "git idd: %s" failure)
    (setq git-idd--last body)
    (let ((used (mapconcat (lambda (one)
                             (format "\n  %d: uses %s = %s" (plist-get one :index) (plist-get one :name)
                                     (or (plist-get one :value) "?")))
                           (plist-get body :used) "")))
      (if (plist-get body :step)
          (message "step %d, line %s: %s%s" (plist-get body :step) (or (plist-get body :line) "?")
                   (plist-get body :text) used)
        (message "%s" (plist-get body :text))))))

(defun git-idd-recommend (&optional from)
  "Go to the step to look at next.
With a prefix argument, begin a new walk at the criterion FROM."
  (interactive (list (and current-prefix-arg (read-string "Criterion: "))))
  (dape-request (dape--live-connection 'stopped) "gitIdd/recommend" (and from (list :from from)) #'git-idd--show))

(defun git-idd-restart ()
  "Forget the answers, and begin anew."
  (interactive)
  (dape-request (dape--live-connection 'stopped) "gitIdd/recommend" '(:restart t) #'git-idd--show))

(defun git-idd-expect (text)
  "Begin a walk where TEXT does not hold, such as n > 0 at a.c:13."
  (interactive "sThis must hold: ")
  (dape-request (dape--live-connection 'stopped) "gitIdd/expect" (list :expect (vector text)) #'git-idd--show))

(defun git-idd-answer (answer &optional values)
  "Give ANSWER to the recommended step; VALUES are the numbers of wrong values."
  (interactive
   (let ((answer (completing-read "The step is: "
                                  '("correct" "wrongValue" "wrongPath" "wrongResult" "unclear" "undo") nil t)))
     (list answer
           (and (equal answer "wrongValue")
                (let* ((used (mapcar (lambda (one)
                                       (cons (format "%s = %s" (plist-get one :name) (or (plist-get one :value) "?"))
                                             (plist-get one :index)))
                                     (plist-get git-idd--last :used)))
                       (chosen (completing-read-multiple "Wrong values: " used nil t)))
                  (mapcar (lambda (name) (cdr (assoc name used))) chosen))))))
  (dape-request (dape--live-connection 'stopped) "gitIdd/answer"
                (append (list :answer answer) (and values (list :values (vconcat values))))
                #'git-idd--show))
;;; dape.el ends here
