;;; dape.el --- git idd for dape -*- lexical-binding: t -*-
;; Load it, then `M-x dape RET git-idd RET'.
(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               '(git-idd modes (c-mode c-ts-mode c++-mode c++-ts-mode)
                         command "git-idd" command-args ("dap")
                         command-cwd dape-command-cwd
                         :type "git-idd" :request "launch")))
;;; dape.el ends here
